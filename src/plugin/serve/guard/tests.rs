use std::future::poll_fn;

use tonic::codegen::empty_body;

use super::*;

#[derive(Clone, Copy)]
enum When {
    Never,
    InCall,
    InFuture,
    InBody,
}

#[derive(Clone)]
struct Panics(When);

impl NamedService for Panics {
    const NAME: &'static str = "test.Panics";
}

impl Service<http::Request<BoxBody>> for Panics {
    type Response = http::Response<BoxBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<BoxBody>) -> Self::Future {
        let when = self.0;
        assert!(!matches!(when, When::InCall), "on purpose");
        Box::pin(async move {
            assert!(!matches!(when, When::InFuture), "on purpose");
            let body = BoxBody::new(OneFrame {
                panic: matches!(when, When::InBody),
                sent: false,
            });
            Ok(http::Response::new(body))
        })
    }
}

struct OneFrame {
    panic: bool,
    sent: bool,
}

impl Body for OneFrame {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.sent {
            assert!(!self.panic, "on purpose");
            return Poll::Ready(None);
        }
        self.sent = true;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"packet")))))
    }
}

#[tokio::test]
async fn a_panic_is_an_error_of_one_call() {
    for (when, frames, internal) in [
        (When::Never, 1, false),
        (When::InCall, 0, true),
        (When::InFuture, 0, true),
        // What was sent before stays; the trailers say the rest.
        (When::InBody, 1, true),
    ] {
        let mut service = Guarded::new(Panics(when));
        let response = service
            .call(http::Request::new(empty_body()))
            .await
            .unwrap();
        let (parts, mut body) = response.into_parts();
        let mut headers = parts.headers;
        let mut data = 0;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            match frame.unwrap().into_trailers() {
                Ok(trailers) => headers.extend(trailers),
                Err(_) => data += 1,
            }
        }
        let status = headers
            .get("grpc-status")
            .map(|code| code.to_str().unwrap().to_owned());
        assert_eq!(data, frames);
        assert_eq!(status.as_deref(), internal.then_some("13"));
    }
}
