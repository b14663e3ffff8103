//! The generator on small types.

use crate::typescript::read::Declarations;
use crate::typescript::write::module;

fn check(source: &str, expected: &str) {
    let mut declarations = Declarations::default();
    declarations.read(source).unwrap();
    let text = module(&declarations, &["Root"]).unwrap();
    let (_, body) = text.split_once("\n\n").unwrap();
    assert_eq!(body, expected);
}

fn refusal(source: &str) -> String {
    let mut declarations = Declarations::default();
    let read = declarations.read(source);
    format!("{:#}", read.and_then(|()| module(&declarations, &["Root"]).map(drop)).unwrap_err())
}

#[test]
fn structs_follow_what_is_written() {
    check(
        r#"
        /// A root.
        #[serde(rename_all = "camelCase")]
        pub struct Root {
            /// Its name.
            pub full_name: String,
            pub maybe: Option<u32>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub left_out: Option<Vec<Option<bool>>>,
            #[serde(rename = "type", default)]
            pub kind: BTreeMap<String, f64>,
            #[serde(skip)]
            pub secret: String,
            #[serde(flatten)]
            pub extra: Map<String, Value>,
        }
        "#,
        "/** A root. */\n\
         export interface Root {\n  \
           /** Its name. */\n  \
           fullName: string;\n  \
           maybe: number | null;\n  \
           leftOut?: (boolean | null)[];\n  \
           type?: Record<string, number>;\n  \
           [key: string]: unknown;\n\
         }\n",
    );
}

#[test]
fn tagged_enums_become_unions_without_their_unknown_rest() {
    check(
        r#"
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Root {
            KeepAlive,
            TextDelta { text: String },
            Wrapped(Box<Inner>),
            #[serde(untagged)]
            Unknown(Value),
        }
        pub struct Inner { pub id: ToolId }
        id_type! {
            /// A call.
            ToolId
        }
        "#,
        "export interface Inner {\n  id: ToolId;\n}\n\n\
         export type Root =\n  \
           | { type: \"keep_alive\" }\n  \
           | {\n      type: \"text_delta\";\n      text: string;\n    }\n  \
           | ({ type: \"wrapped\" } & Inner);\n\n\
         /** A call. */\nexport type ToolId = string;\n",
    );
}

#[test]
fn names_flattened_parts_and_open_strings_are_kept() {
    check(
        r#"
        pub struct Root { #[serde(flatten)] pub detail: Kind, pub mode: Mode }
        #[serde(untagged)]
        pub enum Kind { Text(String), List(Vec<Mode>) }
        #[serde(rename_all = "camelCase")]
        pub enum Mode { AcceptEdits, #[serde(untagged)] Other(String) }
        "#,
        "export type Kind =\n  | (string & {})\n  | Mode[];\n\n\
         export type Mode =\n  | \"acceptEdits\"\n  | (string & {});\n\n\
         export type Root = Kind & {\n  mode: Mode;\n};\n",
    );
}

#[test]
fn what_is_not_understood_is_refused() {
    let unknown = refusal("#[serde(content = \"c\")] pub struct Root { pub a: String }");
    assert!(unknown.contains("`content`"), "{unknown}");
    let missing = refusal("pub struct Root { pub a: Nowhere }");
    assert!(missing.contains("`Nowhere` is not declared"), "{missing}");
    let twice = refusal("pub struct Root {} pub mod x {} pub struct Root {}");
    assert!(twice.contains("two types called `Root`"), "{twice}");
}
