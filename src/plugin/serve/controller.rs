//! go-plugin's `GRPCController`: how Grafana asks the process to end. Without it Grafana waits 2 s and kills.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::watch;
use tonic::body::BoxBody;
use tonic::codec::ProstCodec;
use tonic::codegen::{Service, http};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};

/// Answers `Shutdown`, and tells the server to end.
///
/// The SDK has no generated code for this service; its one call takes and gives an empty message.
#[derive(Clone)]
pub(super) struct Controller {
    stop: Arc<watch::Sender<bool>>,
}

impl Controller {
    /// Makes the service, and a receiver that turns true when Grafana asks for the end.
    pub(super) fn new() -> (Self, watch::Receiver<bool>) {
        let (stop, stopped) = watch::channel(false);
        (
            Self {
                stop: Arc::new(stop),
            },
            stopped,
        )
    }
}

impl NamedService for Controller {
    const NAME: &'static str = "plugin.GRPCController";
}

impl Service<http::Request<BoxBody>> for Controller {
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<BoxBody>) -> Self::Future {
        let controller = self.clone();
        Box::pin(async move {
            if request.uri().path() != "/plugin.GRPCController/Shutdown" {
                return Ok(
                    Status::unimplemented("GRPCController has the call Shutdown only").into_http(),
                );
            }
            Ok(Grpc::new(ProstCodec::<(), ()>::default())
                .unary(controller, request)
                .await)
        })
    }
}

impl UnaryService<()> for Controller {
    type Response = ();
    type Future = Ready<Result<Response<()>, Status>>;

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.stop.send_replace(true);
        ready(Ok(Response::new(())))
    }
}
