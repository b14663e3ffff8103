//! Answers to forms: every value is what its field asks for, or the field says what is wrong.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::wire::{FieldChoice, FieldKind, FormField, TextFormat};

/// The longest text of an answer, in characters, whatever its field says.
const LONGEST: u64 = 100_000;

/// What is wrong with an answer, by field.
pub(crate) type FieldErrors = BTreeMap<String, String>;

/// Checks an answer; what comes back is what the server gets.
pub(crate) fn check(
    fields: &[FormField],
    answers: &BTreeMap<String, Value>,
) -> Result<Map<String, Value>, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut content = Map::new();
    for field in fields {
        let given = answers.get(&field.name).filter(|value| !value.is_null());
        match given.or(field.default.as_ref()) {
            Some(value) => match fits(&field.kind, value) {
                Ok(()) => drop(content.insert(field.name.clone(), value.clone())),
                Err(problem) => drop(errors.insert(field.name.clone(), problem)),
            },
            None if field.required => {
                errors.insert(field.name.clone(), "This is needed.".to_owned());
            }
            None => {}
        }
    }
    for name in answers.keys().filter(|name| fields.iter().all(|field| field.name != **name)) {
        errors.insert(name.clone(), "The form has no such field.".to_owned());
    }
    if errors.is_empty() { Ok(content) } else { Err(errors) }
}

/// Whether a value is what a field asks for; what is wrong with it otherwise.
pub(crate) fn fits(kind: &FieldKind, value: &Value) -> Result<(), String> {
    match kind {
        FieldKind::Text { format, min_length, max_length } => {
            let text = value.as_str().ok_or("This is to be a text.")?;
            fits_length(text, *min_length, *max_length)?;
            format.map_or(Ok(()), |format| fits_format(format, text))
        }
        FieldKind::Number { whole, minimum, maximum } => {
            let number = value.as_f64().ok_or("This is to be a number.")?;
            if *whole && number.fract() != 0.0 {
                return Err("This is to be a whole number.".to_owned());
            }
            match (minimum, maximum) {
                (Some(least), _) if number < *least => Err(format!("This is at least {least}.")),
                (_, Some(most)) if number > *most => Err(format!("This is at most {most}.")),
                _ => Ok(()),
            }
        }
        FieldKind::Flag if value.is_boolean() => Ok(()),
        FieldKind::Flag => Err("This is yes or no.".to_owned()),
        FieldKind::Choice { choices } => fits_choice(choices, value),
        FieldKind::Choices { choices, min_items, max_items } => {
            let chosen = value.as_array().ok_or("This is to be a list.")?;
            for (place, value) in chosen.iter().enumerate() {
                fits_choice(choices, value)?;
                if chosen[..place].contains(value) {
                    return Err("Nothing is chosen twice.".to_owned());
                }
            }
            let count = chosen.len() as u64;
            match (min_items, max_items) {
                (Some(least), _) if count < *least => Err(format!("Choose at least {least}.")),
                (_, Some(most)) if count > *most => Err(format!("Choose at most {most}.")),
                _ => Ok(()),
            }
        }
    }
}

fn fits_choice(choices: &[FieldChoice], value: &Value) -> Result<(), String> {
    let is_offered = value.as_str().is_some_and(|it| choices.iter().any(|one| one.value == it));
    if is_offered { Ok(()) } else { Err("Choose from what is offered.".to_owned()) }
}

fn fits_length(text: &str, least: Option<u64>, most: Option<u64>) -> Result<(), String> {
    let length = text.chars().count() as u64;
    if let Some(least) = least.filter(|least| length < *least) {
        return Err(format!("This has at least {least} characters."));
    }
    let most = most.unwrap_or(LONGEST).min(LONGEST);
    if length > most { Err(format!("This has at most {most} characters.")) } else { Ok(()) }
}

fn fits_format(format: TextFormat, text: &str) -> Result<(), String> {
    let (fits, problem) = match format {
        TextFormat::Email => (is_email(text), "This is to be an address such as ada@example.com."),
        TextFormat::Uri => (is_uri(text), "This is to be an address such as https://example.com/."),
        TextFormat::Date => (is_date(text), "This is to be a day such as 2026-11-15."),
        TextFormat::DateTime => {
            (is_moment(text), "This is to be a moment such as 2026-11-15T12:00:00Z.")
        }
    };
    if fits { Ok(()) } else { Err(problem.to_owned()) }
}

fn is_email(text: &str) -> bool {
    let is_plain = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    let parts = text.rsplit_once('@');
    is_plain && parts.is_some_and(|(who, place)| !who.is_empty() && !place.is_empty())
}

fn is_uri(text: &str) -> bool {
    let is_plain = !text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    is_plain
        && text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.chars().all(fits)
                && !rest.is_empty()
        })
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_moment(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}
