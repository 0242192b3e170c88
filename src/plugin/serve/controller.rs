//! go-plugin's `GRPCController`: how Grafana asks the process to end. Without it Grafana waits 2 s and kills.

use std::sync::Arc;

use tokio::sync::watch;
use tonic::Status;

use crate::plugin::unary::Call;

/// Answers `Shutdown`, and tells the server to end.
///
/// The SDK has no generated code for this service; its one call takes and gives an empty message.
#[derive(Clone)]
pub(super) struct Controller {
    stop: Arc<watch::Sender<bool>>,
}

impl Controller {
    /// Makes the call, and a receiver that turns true when Grafana asks for the end.
    pub(super) fn new() -> (Self, watch::Receiver<bool>) {
        let (stop, stopped) = watch::channel(false);
        let stop = Arc::new(stop);
        (Self { stop }, stopped)
    }
}

impl Call for Controller {
    const SERVICE: &'static str = "plugin.GRPCController";
    const PATH: &'static str = "/plugin.GRPCController/Shutdown";
    type Request = ();
    type Response = ();

    async fn answer(self, (): ()) -> Result<(), Status> {
        self.stop.send_replace(true);
        Ok(())
    }
}
