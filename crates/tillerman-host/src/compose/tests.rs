//! The order of texts, and what a project must not set.

use super::{Composition, check};
use crate::wire::{Persona, Project, Skill};

#[test]
fn texts_come_in_the_order_project_personas_skills() {
    let persona = |text: &str| Persona { text: text.to_owned(), ..Persona::default() };
    let skill = |text: &str| Skill { text: text.to_owned(), ..Skill::default() };
    let project = Project { additional_prompt: "Project.\n".to_owned(), ..Project::default() };
    let whole = Composition {
        project: Some(project),
        personas: vec![persona("First."), persona("Second.")],
        skills: vec![skill("Count."), skill("Sort.")],
        ..Composition::default()
    };
    let expected = "Project.\n\nFirst.\n\nSecond.\n\n## Skill Instructions\n\nCount.\n\nSort.";
    assert_eq!(whole.prompt(), expected);
    assert_eq!(Composition::default().prompt(), "");
}

#[test]
fn variables_that_steer_programs_are_refused() {
    let with = |name: &str| {
        let environment = [(name.to_owned(), "x".to_owned())].into();
        let (id, name, cwd) = ("p".to_owned(), "P".to_owned(), "/".to_owned());
        check(&Project { id, name, cwd, environment, ..Project::default() })
    };
    assert_eq!(with("STAGE"), Ok(()));
    for name in [
        "LD_PRELOAD",
        "BASH_ENV",
        "GIT_SSH_COMMAND",
        "node_options",
        "https_proxy",
        "PYTHONPATH",
        "A=B",
        "",
    ] {
        assert!(with(name).is_err(), "{name} was taken");
    }
}
