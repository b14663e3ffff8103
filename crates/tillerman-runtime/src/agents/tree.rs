//! What all sessions of a tree share: one host, one budget, one list of agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tillerman_engine::{Bill, Budget, Share};
use tillerman_ports::{AgentFiles, Grounds, Toolbox};
use tillerman_protocol::TaskId;
use tillerman_protocol::frame::{Frame, SystemDetail, SystemFrame};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agents::book::Book;
use crate::agents::purse::Purse;
use crate::agents::setup::{AgentLimits, AgentSetup};
use crate::agents::switchboard::Switchboard;
use crate::agents::task_board::TaskBoard;
use crate::task_files::TaskFiles;
use crate::teams::Team;

/// Bills on their way to the session at the root.
const BILLS_IN_FLIGHT: usize = 256;

/// What all sessions of a tree share.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) purse: Arc<Purse>,
    pub(crate) switchboard: Switchboard,
    pub(crate) book: Book,
    pub(crate) board: TaskBoard,
    pub(crate) task_files: TaskFiles,
    pub(crate) limits: AgentLimits,
    pub(crate) team: Option<Team>,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) files: Arc<dyn AgentFiles>,
    pub(crate) grounds: Arc<dyn Grounds>,
    host: mpsc::Sender<Frame>,
    bills: mpsc::Sender<Bill>,
    shutdown: CancellationToken,
    /// Whether the host wants to see what agents say, and not only what they do.
    forwards_text: AtomicBool,
    host_left: AtomicBool,
}

/// What a tree is planted with.
pub(crate) struct Soil<'a> {
    pub(crate) setup: &'a AgentSetup,
    pub(crate) budget: Budget,
    pub(crate) spent: Share,
    pub(crate) host: mpsc::Sender<Frame>,
    pub(crate) shutdown: CancellationToken,
}

impl Tree {
    pub(crate) fn plant(soil: Soil<'_>) -> (Arc<Self>, mpsc::Receiver<Bill>) {
        let (bills, received) = mpsc::channel(BILLS_IN_FLIGHT);
        let tree = Self {
            purse: Purse::new(soil.budget, soil.spent),
            switchboard: Switchboard::default(),
            book: Book::default(),
            board: TaskBoard::default(),
            task_files: TaskFiles::default(),
            limits: soil.setup.limits,
            team: soil.setup.team.as_ref().map(Team::open),
            toolbox: Arc::clone(&soil.setup.toolbox),
            files: Arc::clone(&soil.setup.files),
            grounds: Arc::clone(&soil.setup.grounds),
            host: soil.host,
            bills,
            shutdown: soil.shutdown,
            forwards_text: AtomicBool::new(false),
            host_left: AtomicBool::new(false),
        };
        (Arc::new(tree), received)
    }

    /// Shows the host a frame of an agent; one that does not read slows the agent down.
    pub(crate) async fn show(&self, frame: Frame) {
        tokio::select! {
            biased;
            sent = self.host.send(frame) => {
                if sent.is_err() {
                    tracing::debug!("nobody reads the frames of agents any more");
                }
            }
            () = self.shutdown.cancelled() => {}
        }
    }

    /// Shows the host what goes on in the background of the tree, now that the list of one session
    /// has changed.
    pub(crate) async fn show_tasks(&self, keeper: Option<&TaskId>, frame: SystemFrame) {
        let SystemFrame { detail, session_id, uuid } = frame;
        let SystemDetail::BackgroundTasksChanged { tasks } = detail else { return };
        let room = tokio::select! {
            biased;
            room = self.host.reserve() => room.ok(),
            () = self.shutdown.cancelled() => None,
        };
        self.board.post(keeper, tasks, |tasks| {
            let detail = SystemDetail::BackgroundTasksChanged { tasks };
            let frame = Frame::System(Box::new(SystemFrame { detail, session_id, uuid }));
            if let Some(room) = room {
                room.send(frame);
            }
        });
    }

    /// Hands a bill to the session at the root, whose totals cover the whole tree.
    pub(crate) async fn bill(&self, bill: Bill) {
        tokio::select! {
            biased;
            sent = self.bills.send(bill) => {
                if sent.is_err() {
                    tracing::warn!("a response was paid for after its session had ended");
                }
            }
            () = self.shutdown.cancelled() => {}
        }
    }

    pub(crate) fn forward_text(&self, forwards: bool) {
        self.forwards_text.store(forwards, Ordering::Relaxed);
    }

    pub(crate) fn forwards_text(&self) -> bool {
        self.forwards_text.load(Ordering::Relaxed)
    }

    /// Nobody answers agents any more, neither those at work nor those to come.
    pub(crate) fn close(&self) {
        self.host_left.store(true, Ordering::Relaxed);
        self.book.close();
    }

    pub(crate) fn host_left(&self) -> bool {
        self.host_left.load(Ordering::Relaxed)
    }
}
