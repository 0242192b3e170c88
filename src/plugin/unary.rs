//! A gRPC service of one call, for those that grafana-plugin-sdk has no code for, or not all of it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use prost::Message;
use tonic::body::BoxBody;
use tonic::codec::ProstCodec;
use tonic::codegen::{Service, http};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};

/// Is a call that answers one message with one.
pub(super) trait Call: Clone + Send + 'static {
    const SERVICE: &'static str;
    /// `/<service>/<method>`.
    const PATH: &'static str;
    type Request: Message + Default + 'static;
    type Response: Message + Default + 'static;

    /// Answers.
    fn answer(
        self,
        request: Self::Request,
    ) -> impl Future<Output = Result<Self::Response, Status>> + Send;
}

/// Serves a call; all others of its service are answered as not implemented.
#[derive(Clone)]
pub(super) struct OneCall<C> {
    call: C,
    max_request: usize,
}

impl<C> OneCall<C> {
    /// Serves `call`, whose requests have at most `max_request` bytes.
    pub(super) fn new(call: C, max_request: usize) -> Self {
        Self { call, max_request }
    }
}

impl<C: Call> NamedService for OneCall<C> {
    const NAME: &'static str = C::SERVICE;
}

impl<C: Call> Service<http::Request<BoxBody>> for OneCall<C> {
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<BoxBody>) -> Self::Future {
        if request.uri().path() != C::PATH {
            return Box::pin(async {
                Ok(Status::unimplemented("this service has one call only").into_http())
            });
        }
        let (call, max_request) = (Answering(self.call.clone()), self.max_request);
        Box::pin(async move {
            let codec = ProstCodec::<C::Response, C::Request>::default();
            let mut grpc = Grpc::new(codec).max_decoding_message_size(max_request);
            Ok(grpc.unary(call, request).await)
        })
    }
}

struct Answering<C>(C);

impl<C: Call> UnaryService<C::Request> for Answering<C> {
    type Response = C::Response;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Self::Response>, Status>> + Send>>;

    fn call(&mut self, request: Request<C::Request>) -> Self::Future {
        let call = self.0.clone();
        Box::pin(async move {
            let answer = call.answer(request.into_inner()).await?;
            Ok(Response::new(answer))
        })
    }
}
