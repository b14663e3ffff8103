//! A tool: what the model is told about it, and what it does.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tillerman_ports::BoxFuture;

use crate::tools::outcome::{IntoToolOutput, ToolOutput};
use crate::tools::schema::schema_of;

/// What a tool is told about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolContext {
    /// The call, as messages and hooks know it.
    pub tool_use_id: Option<String>,
    /// The server the tool is called through.
    pub server: String,
}

type Handler = Arc<dyn Fn(Value, ToolContext) -> BoxFuture<ToolOutput> + Send + Sync>;

/// A tool.
#[derive(Clone)]
#[must_use]
pub struct Tool {
    name: String,
    description: String,
    schema: Value,
    annotations: Map<String, Value>,
    largest_result: Option<u64>,
    handler: Handler,
}

impl Tool {
    /// A tool whose arguments are of a type. What cannot be read into it is refused before the
    /// function runs, and the model is told why.
    pub fn new<A, F, Running, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, ToolContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = R> + Send + 'static,
        R: IntoToolOutput,
    {
        let name = name.into();
        let called = name.clone();
        let handler = move |arguments: Value, context| -> BoxFuture<ToolOutput> {
            match serde_json::from_value::<A>(arguments) {
                Ok(arguments) => {
                    let running = function(arguments, context);
                    Box::pin(async move { running.await.into_output() })
                }
                Err(error) => {
                    let text = format!("Input validation error: {called} {error}");
                    Box::pin(std::future::ready(ToolOutput::error(text)))
                }
            }
        };
        Self::from_parts(name, description.into(), schema_of::<A>(), Arc::new(handler))
    }

    /// A tool with a schema of your own, which takes its arguments as they come.
    pub fn with_schema<F, Running, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        function: F,
    ) -> Self
    where
        F: Fn(Value, ToolContext) -> Running + Send + Sync + 'static,
        Running: Future<Output = R> + Send + 'static,
        R: IntoToolOutput,
    {
        let handler = move |arguments, context| -> BoxFuture<ToolOutput> {
            let running = function(arguments, context);
            Box::pin(async move { running.await.into_output() })
        };
        Self::from_parts(name.into(), description.into(), schema, Arc::new(handler))
    }

    fn from_parts(name: String, description: String, schema: Value, handler: Handler) -> Self {
        let annotations = Map::new();
        Self { name, description, schema, annotations, largest_result: None, handler }
    }

    fn annotate(mut self, name: &str, value: Value) -> Self {
        self.annotations.insert(name.to_owned(), value);
        self
    }

    /// Gives it a name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        let title: String = title.into();
        self.annotate("title", json!(title))
    }

    /// Promises that it changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate("readOnlyHint", json!(true))
    }

    /// Warns that it may destroy something.
    pub fn destructive(self) -> Self {
        self.annotate("destructiveHint", json!(true))
    }

    /// Promises that calling it again changes nothing more.
    pub fn idempotent(self) -> Self {
        self.annotate("idempotentHint", json!(true))
    }

    /// Says that it reaches beyond this machine.
    pub fn open_world(self) -> Self {
        self.annotate("openWorldHint", json!(true))
    }

    /// Lets its results be this long before the engine moves them to a file.
    pub fn max_result_chars(mut self, chars: u64) -> Self {
        self.largest_result = Some(chars);
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its arguments must look like.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Calls it, as the engine would; for tests.
    pub async fn call(&self, arguments: Value) -> ToolOutput {
        self.run(arguments, ToolContext::default()).await
    }

    pub(crate) fn run(&self, arguments: Value, context: ToolContext) -> BoxFuture<ToolOutput> {
        (self.handler)(arguments, context)
    }

    /// The tool as it stands in a list.
    pub(crate) fn on_the_wire(&self) -> Value {
        let mut wire = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
        });
        if let Some(fields) = wire.as_object_mut() {
            if !self.annotations.is_empty() {
                let annotations = Value::Object(self.annotations.clone());
                fields.insert("annotations".to_owned(), annotations);
            }
            if let Some(chars) = self.largest_result {
                let meta = json!({"anthropic/maxResultSizeChars": chars});
                fields.insert("_meta".to_owned(), meta);
            }
        }
        wire
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
