//! go-plugin's `plugin.GRPCController`, which no generated server exists for.

use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tonic::body::BoxBody;
use tonic::codec::ProstCodec;
use tonic::codegen::http::{Request, Response};
use tonic::server::{Grpc, NamedService, UnaryService};

/// Answers Shutdown and ends the process, unless it is told to ignore it.
#[derive(Clone)]
pub(crate) struct Controller;

impl NamedService for Controller {
    const NAME: &'static str = "plugin.GRPCController";
}

impl tower::Service<Request<BoxBody>> for Controller {
    type Response = Response<BoxBody>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<BoxBody>) -> Self::Future {
        Box::pin(async {
            Ok(Grpc::new(ProstCodec::<(), ()>::default())
                .unary(Shutdown, request)
                .await)
        })
    }
}

struct Shutdown;

impl UnaryService<()> for Shutdown {
    type Response = ();
    type Future = BoxFuture<'static, Result<tonic::Response<()>, tonic::Status>>;

    fn call(&mut self, _: tonic::Request<()>) -> Self::Future {
        if super::mode() != "ignore-shutdown" {
            tokio::spawn(async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                std::process::exit(0);
            });
        }
        Box::pin(async { Ok(tonic::Response::new(())) })
    }
}
