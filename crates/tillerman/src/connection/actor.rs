//! The task itself: one loop that hears everything and never waits for anybody.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use serde_json::Value;
use tillerman_protocol::control::{ControlBody, ControlCancel, ControlRequest, ControlResponse};
use tillerman_protocol::frame::{Frame, ResultFrame};
use tillerman_protocol::{EntryId, RequestId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::budget::Meter;
use crate::connection::ending::{Ended, closed, refusal, verdict};
use crate::connection::goodbye::{callback_failed, say_goodbye};
use crate::connection::host::{Asked, Host, Reply};
use crate::connection::inbox::Inbox;
use crate::connection::mirror::Mirror;
use crate::connection::open::Ends;
use crate::connection::order::Order;
use crate::connection::progress::Progress;
use crate::connection::requests::{Asker, Requests};
use crate::error::{Error, ErrorKind, Result};
use crate::events::Watch;
use crate::message::{Answer, Message, Prompt};
use crate::transport::{Ending, Incoming, Link, Outgoing};

/// Frames that wait to be sent; beyond them no further orders are taken.
const MOST_UNSENT: usize = 256;
const LAST_WORDS: usize = 8 << 10;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) start: Duration,
    pub(crate) request: Duration,
    pub(crate) background: Duration,
}

/// Everything a connection is made of.
pub(crate) struct Actor {
    pub(crate) link: Link,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) messages: mpsc::Sender<Result<Message>>,
    pub(crate) prompts: Option<Pin<Box<dyn Stream<Item = Prompt> + Send>>>,
    pub(crate) host: Host,
    pub(crate) ends: Ends,
    pub(crate) timing: Timing,
    pub(crate) cancel: CancellationToken,
    pub(crate) watch: Option<Watch>,
    pub(crate) meter: Option<Meter>,
    pub(crate) mirror: Option<Mirror>,
    pub(crate) ready: Option<oneshot::Sender<Result<Value>>>,
    pub(crate) state: State,
}

/// What changes while a connection lives.
#[derive(Default)]
pub(crate) struct State {
    unsent: VecDeque<Outgoing>,
    inbox: Inbox,
    requests: Requests,
    answering: JoinSet<Reply>,
    asked: HashMap<Id, Question>,
    by_request: HashMap<RequestId, AbortHandle>,
    progress: Progress,
    named_prompts: HashSet<EntryId>,
    greeting: Option<Value>,
    heard: Option<Instant>,
    last_words: String,
    input: Input,
    closing: Option<oneshot::Sender<Result<()>>>,
    stop: Option<ErrorKind>,
    /// Why the session could not begin, in the engine's own words.
    refusal: Option<Error>,
    has_no_callers: bool,
}

/// Whether something can still be said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Input {
    #[default]
    Open,
    Ended,
}

/// A question that a callback is answering.
struct Question {
    request: RequestId,
    callback: String,
    subject: String,
    if_panics: Reply,
}

/// What the loop hears.
enum Heard {
    Cancelled,
    Answered(Result<(Id, Reply), JoinError>),
    Sent,
    Delivered,
    Order(Option<Order>),
    Prompt(Option<Prompt>),
    Incoming(Option<Incoming>),
    TimeUp,
}

impl Actor {
    /// Runs until the session is over and everything it said was taken.
    pub(crate) async fn run(mut self, handshake: ControlBody) {
        let hello = self.state.requests.begin(handshake, Asker::Handshake, self.timing.start);
        self.send(hello);
        let ending = loop {
            let heard = self.hear().await;
            if let ControlFlow::Break(ending) = self.step(heard).await {
                break ending;
            }
        };
        self.finish(ending).await;
    }

    async fn hear(&mut self) -> Heard {
        let deadline = self.next_deadline();
        let state = &mut self.state;
        if self.messages.is_closed() {
            state.inbox.close();
        }
        let takes = state.greeting.is_some() && state.unsent.len() < MOST_UNSENT;
        let takes_orders = takes && !state.has_no_callers;
        let takes_prompts = takes && self.prompts.is_some();
        let outgoing = self.link.outgoing().clone();
        tokio::select! {
            biased;
            () = self.cancel.cancelled(), if state.stop.is_none() => Heard::Cancelled,
            Some(answered) = state.answering.join_next_with_id() => Heard::Answered(answered),
            Ok(permit) = outgoing.reserve(), if !state.unsent.is_empty() => {
                if let Some(next) = state.unsent.pop_front() {
                    permit.send(next);
                }
                Heard::Sent
            }
            Ok(permit) = self.messages.reserve(), if !state.inbox.is_empty() => {
                if let Some(next) = state.inbox.pop() {
                    permit.send(next);
                }
                Heard::Delivered
            }
            order = self.orders.recv(), if takes_orders => Heard::Order(order),
            prompt = next_prompt(&mut self.prompts), if takes_prompts => Heard::Prompt(prompt),
            incoming = self.link.incoming().recv(), if state.inbox.has_room() => {
                Heard::Incoming(incoming)
            }
            () = until(deadline) => Heard::TimeUp,
        }
    }

    async fn step(&mut self, heard: Heard) -> ControlFlow<Ending> {
        match heard {
            Heard::Cancelled => self.stop(ErrorKind::Cancelled),
            Heard::Answered(answered) => self.answered(answered),
            Heard::Sent | Heard::Delivered => {}
            Heard::Order(Some(order)) => self.take(order),
            // Nobody is left who could want anything.
            Heard::Order(None) => {
                self.state.has_no_callers = true;
                if self.ends == Ends::WhenClosed {
                    self.end_input();
                }
            }
            Heard::Prompt(Some(prompt)) => drop(self.prompt(prompt)),
            Heard::Prompt(None) => {
                self.prompts = None;
                self.end_when_done();
            }
            Heard::Incoming(Some(Incoming::Ended(ending))) => return ControlFlow::Break(ending),
            Heard::Incoming(Some(incoming)) => self.saw(incoming).await,
            Heard::Incoming(None) => {
                let text = "the transport went away without a word";
                let error = Error::new(ErrorKind::Connection, text);
                return ControlFlow::Break(Ending::failed(error));
            }
            Heard::TimeUp => self.time_up(),
        }
        ControlFlow::Continue(())
    }

    fn send(&mut self, frame: Frame) {
        self.state.unsent.push_back(Outgoing::Frame(Box::new(frame)));
    }

    fn end_input(&mut self) {
        if self.state.input == Input::Open {
            self.state.input = Input::Ended;
            self.state.unsent.push_back(Outgoing::EndInput);
        }
    }

    fn stop(&mut self, why: ErrorKind) {
        if self.state.stop.is_none() {
            self.state.stop = Some(why);
            self.state.unsent.push_back(Outgoing::Stop);
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Prompt(prompt, sent) => drop(sent.send(self.prompt(prompt))),
            Order::Request(body, caller) => {
                if self.state.input == Input::Ended {
                    return drop(caller.send(Err(closed())));
                }
                let patience = self.timing.request;
                let frame = self.state.requests.begin(*body, Asker::Caller(caller), patience);
                self.send(frame);
            }
            Order::Greeting(caller) => {
                let greeting = self.state.greeting.clone().unwrap_or_default();
                drop(caller.send(Ok(greeting)));
            }
            Order::Servers(servers) => self.host.serve(servers),
            Order::EndInput => self.end_input(),
            Order::Close(done) => {
                self.state.closing = Some(done);
                self.state.inbox.close();
                self.stop(ErrorKind::Closed);
            }
        }
    }

    fn prompt(&mut self, prompt: Prompt) -> Result<EntryId> {
        if self.state.input == Input::Ended {
            return Err(closed());
        }
        let id = prompt.id().cloned();
        if let Some(id) = &id {
            self.state.named_prompts.insert(id.clone());
        }
        let id = id.unwrap_or_else(|| EntryId::new(crate::random::uuid()));
        if let Some(watch) = &self.watch {
            watch.prompted(prompt.content());
        }
        self.state.progress.prompted(id.clone());
        self.send(Frame::User(Box::new(prompt.into_frame(id.clone()))));
        Ok(id)
    }

    async fn saw(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Frame(frame) => self.saw_frame(*frame).await,
            Incoming::Stderr(line) => self.saw_stderr(&line),
            Incoming::Unreadable(error) => self.state.inbox.push(Err(error)),
            Incoming::Ended(_) => {}
        }
    }

    fn saw_stderr(&mut self, line: &str) {
        self.host.heard_stderr(line);
        let words = &mut self.state.last_words;
        words.push_str(line);
        words.push('\n');
        if words.len() > LAST_WORDS {
            let cut = words.len() - LAST_WORDS / 2;
            let cut = words.ceil_char_boundary(cut);
            words.drain(..cut);
        }
    }

    async fn saw_frame(&mut self, frame: Frame) {
        self.state.heard = Some(Instant::now());
        self.state.progress.saw(&frame);
        if let Some(watch) = &mut self.watch {
            watch.saw(&frame);
        }
        match (&mut self.meter, &frame) {
            (Some(meter), Frame::Assistant(frame)) => meter.heard(frame),
            (Some(meter), Frame::Result(result)) => meter.ended(result),
            _ => {}
        }
        match frame {
            Frame::ControlResponse(response) => self.heard_back(*response),
            Frame::ControlRequest(request) => self.asked(*request),
            Frame::ControlCancelRequest(ControlCancel { request_id }) => {
                if let Some(answering) = self.state.by_request.remove(&request_id) {
                    answering.abort();
                }
            }
            Frame::TranscriptMirror(copy) => {
                if let Some(mirror) = &self.mirror {
                    mirror.keep(copy);
                }
            }
            Frame::CommandLifecycle(progress)
                if !self.state.named_prompts.contains(&progress.command_uuid) => {}
            frame => {
                if let Frame::Result(result) = &frame {
                    self.round_ended(result).await;
                }
                if let Some(message) = Message::of(frame) {
                    self.state.inbox.push(Ok(message));
                }
            }
        }
        self.end_when_done();
    }

    async fn round_ended(&mut self, result: &ResultFrame) {
        if self.state.greeting.is_none() {
            self.state.refusal = Answer::of(result.clone()).err().map(refusal);
        }
        if let Some(mirror) = &mut self.mirror {
            let failures = mirror.flush().await;
            failures.into_iter().for_each(|failure| self.state.inbox.push(Ok(failure)));
        }
    }

    /// A query ends when its prompts are answered and nothing works for it any more.
    fn end_when_done(&mut self) {
        let is_over = match self.ends {
            Ends::WhenDone => self.prompts.is_none() && self.state.progress.is_done(),
            Ends::WhenClosed => false,
        };
        if is_over {
            self.end_input();
        }
    }

    fn heard_back(&mut self, response: ControlResponse) {
        match self.state.requests.answered(response) {
            None => {}
            Some((Asker::Caller(caller), answer)) => drop(caller.send(answer)),
            Some((Asker::Handshake, answer)) => self.greeted(answer),
        }
    }

    fn greeted(&mut self, answer: Result<Value>) {
        let answer = answer.and_then(crate::connection::open::check_greeting);
        match answer {
            Ok(greeting) => {
                self.state.greeting = Some(greeting.clone());
                if let Some(ready) = self.ready.take() {
                    drop(ready.send(Ok(greeting)));
                }
            }
            Err(error) => self.fail_start(error),
        }
    }

    fn fail_start(&mut self, error: Error) {
        match self.ready.take() {
            Some(ready) => drop(ready.send(Err(error))),
            None => self.state.inbox.push(Err(error)),
        }
        self.stop(ErrorKind::Connection);
    }

    fn asked(&mut self, request: ControlRequest) {
        let id = request.request_id;
        match self.host.ask(request.request) {
            Ok(Asked { callback, subject, if_panics, reply }) => {
                let answering = self.state.answering.spawn(reply);
                let question = Question { request: id.clone(), callback, subject, if_panics };
                self.state.asked.insert(answering.id(), question);
                self.state.by_request.insert(id, answering);
            }
            Err(why) => self.reply(id, Err(why)),
        }
    }

    fn answered(&mut self, answered: Result<(Id, Reply), JoinError>) {
        let id = match &answered {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(question) = self.state.asked.remove(&id) else { return };
        self.state.by_request.remove(&question.request);
        let reply = match answered {
            Ok((_, reply)) => reply,
            // The engine no longer wants to know.
            Err(error) if error.is_cancelled() => return,
            Err(error) => {
                let failure = callback_failed(question.callback, question.subject, error);
                self.state.inbox.push(Ok(failure));
                question.if_panics
            }
        };
        self.reply(question.request, reply);
    }

    fn reply(&mut self, id: RequestId, reply: Reply) {
        let response = match reply {
            Ok(value) => ControlResponse::success(id, Some(value)),
            Err(why) => ControlResponse::error(id, why, None),
        };
        self.send(Frame::ControlResponse(Box::new(response)));
    }

    fn next_deadline(&self) -> Option<Instant> {
        let requests = self.state.requests.deadline();
        [requests, self.background_deadline()].into_iter().flatten().min()
    }

    /// When agents in the background have kept a query open for long enough without a sign.
    fn background_deadline(&self) -> Option<Instant> {
        let waits = self.ends == Ends::WhenDone
            && self.prompts.is_none()
            && self.state.input == Input::Open
            && self.state.progress.waits_for_agents();
        self.state.heard.filter(|_| waits).map(|heard| heard + self.timing.background)
    }

    fn time_up(&mut self) {
        for (asker, error) in self.state.requests.overdue() {
            match asker {
                Asker::Caller(caller) => drop(caller.send(Err(error))),
                Asker::Handshake => self.fail_start(error),
            }
        }
        if self.background_deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            self.end_input();
        }
    }

    async fn finish(mut self, ending: Ending) {
        let failures = match self.state.greeting {
            Some(_) => say_goodbye(&self.host, self.state.progress.base()).await,
            None => Vec::new(),
        };
        let state = &mut self.state;
        failures.into_iter().for_each(|failure| state.inbox.push(Ok(failure)));
        let error = verdict(Ended {
            ending,
            stopped: state.stop,
            refusal: state.refusal.take(),
            last_failed: state.progress.last_failed(),
            had_begun: state.greeting.is_some(),
            last_words: std::mem::take(&mut state.last_words),
        });
        state.requests.fail(error.as_ref().unwrap_or(&closed()));
        if let Some(mirror) = &mut self.mirror {
            let failures = mirror.flush().await;
            failures.into_iter().for_each(|failure| state.inbox.push(Ok(failure)));
        }
        // Whoever still wants something learns that it is over.
        self.orders.close();
        while self.orders.try_recv().is_ok() {}
        match (self.ready.take(), error) {
            (Some(ready), Some(error)) => drop(ready.send(Err(error))),
            (None, Some(error)) => state.inbox.push(Err(error)),
            (_, None) => {}
        }
        if let Some(done) = state.closing.take() {
            return drop(done.send(Ok(())));
        }
        while let Some(message) = state.inbox.pop() {
            if self.messages.send(message).await.is_err() {
                return;
            }
        }
    }
}

async fn next_prompt(
    prompts: &mut Option<Pin<Box<dyn Stream<Item = Prompt> + Send>>>,
) -> Option<Prompt> {
    match prompts {
        Some(prompts) => prompts.next().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
