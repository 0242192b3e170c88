//! Keeps the process alive when a handler or a stream panics: the call gets an error, all others go on.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame};
use tonic::Status;
use tonic::body::BoxBody;
use tonic::codegen::{Bytes, Service, http};
use tonic::server::NamedService;

/// Is `S` with every panic in it turned into the gRPC status `internal`.
#[derive(Clone)]
pub(super) struct Guarded<S>(S);

impl<S> Guarded<S> {
    /// Wraps `service`.
    pub(super) fn new(service: S) -> Self {
        Self(service)
    }
}

impl<S: NamedService> NamedService for Guarded<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<BoxBody>> for Guarded<S>
where
    S: Service<http::Request<BoxBody>, Response = http::Response<BoxBody>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<BoxBody>) -> Self::Future {
        let service = &mut self.0;
        match catch_unwind(AssertUnwindSafe(|| service.call(request))) {
            Ok(answer) => Box::pin(GuardedCall(Box::pin(answer))),
            Err(_) => Box::pin(async { Ok(panicked().into_http()) }),
        }
    }
}

struct GuardedCall<F>(Pin<Box<F>>);

impl<F> Future for GuardedCall<F>
where
    F: Future<Output = Result<http::Response<BoxBody>, Infallible>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let call = self.0.as_mut();
        match catch_unwind(AssertUnwindSafe(|| call.poll(cx))) {
            Ok(answer) => {
                answer.map_ok(|response| response.map(|body| BoxBody::new(GuardedBody(Some(body)))))
            }
            Err(_) => Poll::Ready(Ok(panicked().into_http())),
        }
    }
}

/// Is the body of an answer, in which the packets of a stream are made; `None` after its end.
struct GuardedBody(Option<BoxBody>);

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(body) = &mut self.0 else {
            return Poll::Ready(None);
        };
        if let Ok(frame) = catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(cx))) {
            return frame;
        }
        // A body that has panicked is not asked again; nor may its destructor end the process.
        let body = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        let (parts, _) = panicked().into_http().into_parts();
        Poll::Ready(Some(Ok(Frame::trailers(parts.headers))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }
}

fn panicked() -> Status {
    Status::internal(
        "Streamscope has a defect: it panicked here. The log of the Grafana server says where",
    )
}

#[cfg(test)]
mod tests;
