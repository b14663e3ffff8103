//! The HTTP side of the proxy: tunnels, and plain requests one at a time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, copy_bidirectional};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::broker::{self, LendError, Route};
use super::connect::{Gate, OpenConnectionError};
use super::exchange::{ExchangeError, LONGEST_HEAD, MOST_HEADERS, end_to_end, exchange};
use super::passing::Passing;
use super::proxy::REQUEST_WAIT;
use super::target::Target;
use super::violations::ViolationKind;

/// How long both ends may say nothing while a request is carried.
const QUIET_WAIT: Duration = Duration::from_secs(600);

type Answer = Response<Either<Passing, Full<Bytes>>>;

/// What the requests of one connection need.
struct Line<'a> {
    gate: &'a Gate,
    /// Hears of everything that passes.
    progress: Arc<Notify>,
    /// Takes the tunnel that is dug once its request is answered.
    tunnels: mpsc::Sender<(OnUpgrade, TcpStream)>,
}

/// Why a request was not carried.
#[derive(Debug, thiserror::Error)]
enum CarryError {
    #[error("{0}")]
    Request(&'static str),
    #[error("{0}")]
    Astray(String),
    #[error(transparent)]
    Connection(#[from] OpenConnectionError),
    #[error(transparent)]
    Lend(#[from] LendError),
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

impl CarryError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Request(_) => StatusCode::BAD_REQUEST,
            Self::Astray(_) => StatusCode::FORBIDDEN,
            Self::Connection(error) => error.status(),
            Self::Lend(error) => error.status(),
            Self::Exchange(_) => StatusCode::BAD_GATEWAY,
        }
    }
}

/// Serves one connection of which `first` has been read.
pub(crate) async fn serve(client: UnixStream, first: u8, gate: &Gate) -> io::Result<()> {
    let (from_client, to_client) = client.into_split();
    let from_client = io::Cursor::new([first]).chain(from_client);
    let (tunnels, mut dug) = mpsc::channel(1);
    let line = Line { gate, progress: Arc::new(Notify::new()), tunnels };
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_WAIT)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .half_close(true)
        .title_case_headers(true)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(
            TokioIo::new(tokio::io::join(from_client, to_client)),
            service_fn(|request| line.answer(request)),
        )
        .with_upgrades();
    let quiet = async { while timeout(QUIET_WAIT, line.progress.notified()).await.is_ok() {} };
    tokio::select! {
        served = served => served.map_err(io::Error::other)?,
        () = quiet => return Err(io::ErrorKind::TimedOut.into()),
    }
    let Ok((client, mut server)) = dug.try_recv() else { return Ok(()) };
    let mut client = TokioIo::new(client.await.map_err(io::Error::other)?);
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

impl Line<'_> {
    /// Answers one request; where the client is to blame for its body there is nobody to answer.
    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, hyper::Error> {
        match Box::pin(self.carry(request)).await {
            Ok(answer) => Ok(answer),
            Err(CarryError::Exchange(ExchangeError::Body(error))) => Err(error),
            Err(error) => Ok(refusal(error.status(), &error.to_string())),
        }
    }

    async fn carry(&self, mut request: Request<Incoming>) -> Result<Answer, CarryError> {
        let Self { gate, progress, tunnels } = self;
        let upgrade = hyper::upgrade::on(&mut request);
        let (mut head, body) = request.into_parts();
        let target = Target::of(&head).map_err(CarryError::Request)?;
        let headers = end_to_end(&head.headers);
        let headers = headers.ok_or(CarryError::Request("the length of the body is unclear"))?;
        let route = gate.broker.route(&target, &head);
        head.headers = headers;
        match route {
            Route::Plain if target.is_tunnel => {
                let server = gate.open(&target.host, target.port).await?;
                // There is room, since a connection has one tunnel at most.
                drop(tunnels.try_send((upgrade, server)));
                Ok(established())
            }
            Route::Plain => {
                let server = gate.open(&target.host, target.port).await?;
                let answer = exchange(server, &target.authority, (head, body), progress).await?;
                Ok(answer.map(Either::Left))
            }
            Route::Lent(service) => {
                let (server, echoes) = broker::lend(&mut head, service, gate).await?;
                let answer = exchange(server, &service.authority(), (head, body), progress).await?;
                let (mut head, body) = answer.into_parts();
                broker::clean(&mut head, &echoes, &gate.broker.services);
                Ok(Response::from_parts(head, Either::Left(body)))
            }
            Route::Astray(why) => {
                gate.violations.add(ViolationKind::Network, why.clone());
                Err(CarryError::Astray(why))
            }
        }
    }
}

/// The answer after which a connection is a tunnel.
fn established() -> Answer {
    let mut answer = Response::new(Either::Right(Full::default()));
    answer.extensions_mut().insert(ReasonPhrase::from_static(b"Connection established"));
    answer
}

/// An answer in the place of a server's.
fn refusal(status: StatusCode, why: &str) -> Answer {
    let body = format!("tillerman sandbox: {why}\n");
    let mut answer = Response::new(Either::Right(Full::from(body)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}
