//! Reading the input a model wrote, field by field, with errors that name the field.

use serde_json::{Map, Value};

/// The largest number JSON writers agree on.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_991.0;

/// The input of one call. Fields nobody asks for are ignored; `null` means absent.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    tool: &'static str,
    /// Where in the input the object stands, ready to go before a field's name.
    place: String,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(tool: &'static str, input: &'a Value) -> Result<Self, String> {
        match input {
            Value::Object(object) => Ok(Self { tool, place: String::new(), object }),
            other => {
                Err(format!("{tool}: the input must be a JSON object, but it is {}.", kind(other)))
            }
        }
    }

    pub(crate) fn required_text(&self, name: &str, meaning: &str) -> Result<&'a str, String> {
        self.optional_text(name)?.ok_or_else(|| {
            let given: Vec<&str> = self.object.keys().map(String::as_str).collect();
            let given = if given.is_empty() { "no fields".to_owned() } else { given.join(", ") };
            format!(
                "{}: {}{name} is required: {meaning}. The input has {given}. \
                 Call the tool again with {name}.",
                self.tool, self.place
            )
        })
    }

    /// A text that is one of a few words.
    pub(crate) fn optional_choice(
        &self,
        name: &str,
        choices: &[&str],
    ) -> Result<Option<&'a str>, String> {
        match self.optional_text(name)? {
            Some(text) if !choices.contains(&text) => {
                let choices = choices.join(", ");
                let (tool, place) = (self.tool, &self.place);
                Err(format!("{tool}: {place}{name} must be one of {choices}, but it is {text:?}."))
            }
            text => Ok(text),
        }
    }

    /// A list of objects.
    pub(crate) fn required_items(&self, name: &str, meaning: &str) -> Result<Vec<Self>, String> {
        let values = match self.object.get(name) {
            Some(Value::Array(values)) => values,
            None | Some(Value::Null) => {
                let (tool, place) = (self.tool, &self.place);
                return Err(format!("{tool}: {place}{name} is required: {meaning}."));
            }
            Some(other) => return Err(self.wrong(name, "an array", other)),
        };
        let items = values.iter().enumerate().map(|(index, value)| match value {
            Value::Object(object) => {
                let place = format!("{}{name}[{index}].", self.place);
                Ok(Self { tool: self.tool, place, object })
            }
            other => Err(self.wrong(&format!("{name}[{index}]"), "an object", other)),
        });
        items.collect()
    }

    /// A list of texts; empty when absent.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&'a str>, String> {
        let values = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(values)) => values,
            Some(other) => return Err(self.wrong(name, "an array of strings", other)),
        };
        let texts = values.iter().map(|value| {
            value.as_str().ok_or_else(|| self.wrong(name, "an array of strings", value))
        });
        texts.collect()
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// A flag; models put it into quotes now and then.
    pub(crate) fn optional_flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// A number; models put it into quotes now and then.
    pub(crate) fn optional_whole(&self, name: &str) -> Result<Option<u64>, String> {
        let value = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        let quoted = || value.as_str().and_then(|text| text.parse().ok());
        let whole = value.as_u64().or_else(|| value.as_f64().and_then(whole_part));
        let whole = whole.or_else(quoted);
        whole
            .map(Some)
            .ok_or_else(|| self.wrong(name, "a whole number that is not negative", value))
    }

    /// An error about the object as a whole.
    pub(crate) fn fault(&self, what: &str) -> String {
        let place = match self.place.strip_suffix('.') {
            Some(place) => format!("{place}: "),
            None => String::new(),
        };
        format!("{}: {place}{what}", self.tool)
    }

    fn wrong(&self, name: &str, wanted: &str, found: &Value) -> String {
        let (tool, place) = (self.tool, &self.place);
        format!("{tool}: {place}{name} must be {wanted}, but it is {}.", kind(found))
    }
}

/// The number as a whole one, when that loses nothing: some writers put `5.0` for `5`.
fn whole_part(number: f64) -> Option<u64> {
    let exact = number.fract() == 0.0 && (0.0..=LARGEST_WHOLE).contains(&number);
    exact.then_some(number as u64)
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
