//! Skills and commands: names, precedence, who may ask, and what the model is told.

use tillerman_config::extensions::{Audience, Origin, SkillKind, Trust, listing};

use crate::grove::{Grove, only};

fn names(grove: &Grove) -> Vec<String> {
    grove.load().skills.iter().map(|skill| skill.name.clone()).collect()
}

#[test]
fn an_empty_project_has_nothing_and_no_complaints() {
    let extensions = Grove::new().load();
    assert!(extensions.skills.is_empty() && extensions.agents.is_empty());
    assert_eq!(extensions.problems, []);
}

#[test]
fn an_empty_project_costs_next_to_nothing() {
    let grove = Grove::new();
    let once = || {
        let began = std::time::Instant::now();
        assert!(grove.load().skills.is_empty() && grove.memory().files.is_empty());
        began.elapsed()
    };
    let fastest = (0..50).map(|_| once()).min().unwrap();
    println!("an empty project: {fastest:?}");
    assert!(fastest.as_micros() < 5_000, "it took {fastest:?}");
}

#[test]
fn the_user_wins_over_the_project_and_a_skill_over_a_command() {
    let grove = Grove::new();
    grove.put("repo/.claude/commands/deploy.md", "from the repository");
    grove.put("repo/app/.claude/commands/deploy.md", "from the folder");
    assert_eq!(grove.load().skills[0].description, "from the folder");
    grove.put("user/commands/deploy.md", "from the user");
    assert_eq!(grove.load().skills[0].description, "from the user");
    grove.put("repo/.claude/skills/deploy/SKILL.md", "as a skill");
    let extensions = grove.load();
    assert_eq!(extensions.skills.len(), 1);
    assert_eq!(extensions.skills[0].description, "as a skill");
    assert_eq!(extensions.skills[0].kind, SkillKind::Skill);
    assert_eq!(extensions.skills[0].origin, Origin::Project { trust: Trust::Untrusted });
}

#[test]
fn folders_of_commands_become_part_of_the_name_and_may_be_left_out() {
    let grove = Grove::new();
    grove.put("user/commands/git/amend.md", "Amend");
    grove.put("user/commands/git/push.md", "Push").put("user/commands/svn/push.md", "Push");
    assert_eq!(names(&grove), ["git:amend", "git:push", "svn:push"]);
    let extensions = grove.load();
    assert_eq!(extensions.skill("amend").map(|it| it.name.as_str()), Some("git:amend"));
    assert_eq!(extensions.skill("push"), None, "it would be a guess");
    assert!(extensions.skill("svn:push").is_some());
}

#[test]
fn heads_say_who_may_ask_and_what_is_allowed() {
    let grove = Grove::new();
    grove.put(
        "user/skills/a/SKILL.md",
        "---\nname: alpha\ndescription: A.\nwhen_to_use: Often.\ndisable-model-invocation: \
         on\nallowed-tools: Bash(git add:*), Read\narguments: [file, line]\nmodel: haiku\n---\nx",
    );
    grove.put("user/skills/b/SKILL.md", "---\nuser-invocable: no\nmodel: inherit\n---\nBody line");
    let extensions = grove.load();
    let [a, b] = &extensions.skills[..] else { panic!("two were expected") };
    assert_eq!((a.name.as_str(), a.description.as_str()), ("alpha", "A. Often."));
    assert_eq!((a.audience, b.audience), (Audience::People, Audience::Model));
    assert_eq!(a.allowed_tools, ["Bash(git add:*)", "Read"]);
    assert_eq!((a.model.as_deref(), b.model.as_deref()), (Some("haiku"), None));
    assert_eq!((b.name.as_str(), b.description.as_str()), ("b", "Body line"));
    assert_eq!(extensions.for_the_model().map(|it| &it.name).collect::<Vec<_>>(), ["b"]);
    assert_eq!(extensions.for_people().map(|it| &it.name).collect::<Vec<_>>(), ["alpha"]);
}

#[test]
fn a_name_that_could_not_be_typed_is_refused() {
    let grove = Grove::new();
    grove.put("user/skills/a/SKILL.md", "---\nname: \"../../etc\"\n---\nx");
    assert!(only(&grove.load().problems).contains("cannot be a name"));
    grove.put("user/skills/a/SKILL.md", "---\nname: \"two words\"\n---\nx");
    assert!(only(&grove.load().problems).contains("cannot be a name"));
}

#[test]
fn a_skill_that_became_a_link_is_not_read() {
    let grove = Grove::new();
    grove.put("repo/.claude/skills/a/SKILL.md", "fine").put("home/key", "secret");
    let skill = grove.load().skills.remove(0);
    std::fs::remove_file(grove.path("repo/.claude/skills/a/SKILL.md")).unwrap();
    grove.link("home/key", "repo/.claude/skills/a/SKILL.md");
    assert!(skill.body().unwrap_err().reason.contains("leads out of"));
    std::fs::remove_file(grove.path("repo/.claude/skills/a/SKILL.md")).unwrap();
    assert!(skill.body().unwrap_err().reason.contains("is gone"));
}

#[test]
fn the_listing_stays_within_its_budget_and_keeps_names() {
    let grove = Grove::new();
    for n in 0..50 {
        let text = format!("---\ndescription: {}\n---\nx", "é".repeat(500));
        grove.put(&format!("user/commands/command{n:02}.md"), &text);
    }
    let extensions = grove.load();
    let whole = listing(&extensions.skills, 100_000);
    assert!(whole.lines().count() == 50 && !whole.contains('…'));
    let short = listing(&extensions.skills, 4_000);
    assert!(short.len() <= 4_000, "{}", short.len());
    assert_eq!(short.lines().count(), 50, "every name is told");
    assert!(short.contains("- command49: é") && short.contains('…'));
    let tiny = listing(&extensions.skills, 200);
    assert!(tiny.lines().last().unwrap().contains("more, which /help lists"), "{tiny}");
    assert!(tiny.len() < 260);
}
