//! Teams on disk: members and mail survive whoever wrote them.

use std::io::Write as _;

use tillerman_ports::{Letter, Member, MemberState, TeamFiles as _};
use tillerman_protocol::EntryId;
use tillerman_store::TeamDirectory;

fn member(name: &str, state: MemberState) -> Member {
    let agent_id = format!("a-{name}");
    Member {
        name: name.to_owned(),
        agent_id,
        agent_type: "helper".to_owned(),
        state,
        asked_to_leave: false,
    }
}

fn letter(id: &str, to: &str) -> Letter {
    let (from, text) = ("team-lead".to_owned(), format!("letter {id}"));
    Letter { id: EntryId::new(id), from, to: to.to_owned(), text }
}

#[test]
fn the_newest_word_about_a_member_counts_and_unread_mail_waits() {
    let root = tempfile::tempdir().unwrap();
    let files = TeamDirectory::new(root.path(), "crew");
    assert!(files.load().members.is_empty());
    files.note(&member("ann", MemberState::Working)).unwrap();
    files.note(&member("bob", MemberState::Working)).unwrap();
    files.note(&member("ann", MemberState::Resting)).unwrap();
    files.post(&letter("1", "ann")).unwrap();
    files.post(&letter("2", "ann")).unwrap();
    files.read("ann", &EntryId::new("1")).unwrap();
    let kept = TeamDirectory::new(root.path(), "crew").load();
    assert_eq!(
        kept.members,
        [member("ann", MemberState::Resting), member("bob", MemberState::Working)]
    );
    assert_eq!(kept.unread, [letter("2", "ann")]);
    files.remove().unwrap();
    files.remove().unwrap();
    assert!(!root.path().join("teams/crew").exists());
}

#[test]
fn a_writer_that_died_costs_the_line_it_wrote_and_no_other() {
    let root = tempfile::tempdir().unwrap();
    let files = TeamDirectory::new(root.path(), "crew");
    files.post(&letter("1", "ann")).unwrap();
    let mailbox = root.path().join("teams/crew/inboxes/ann.jsonl");
    let mut torn = std::fs::File::options().append(true).open(&mailbox).unwrap();
    torn.write_all(b"{\"type\":\"letter\",\"id\":\"2\",\"fr").unwrap();
    drop(torn);
    files.post(&letter("3", "ann")).unwrap();
    assert_eq!(files.load().unread, [letter("1", "ann"), letter("3", "ann")]);
}

#[test]
fn a_name_never_leads_out_of_the_directory() {
    let root = tempfile::tempdir().unwrap();
    let files = TeamDirectory::new(root.path(), "crew");
    files.post(&letter("1", "../../ann")).unwrap();
    assert!(root.path().join("teams/crew/inboxes/______ann.jsonl").exists());
}
