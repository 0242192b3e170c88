//! SASL PLAIN.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{
    SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};
use kafka_protocol::protocol::StrBytes;

use super::super::Node;
use super::super::connection::Session;

/// Accepts PLAIN where the broker has a user.
pub(super) fn handshake(node: &Node, request: &SaslHandshakeRequest) -> SaslHandshakeResponse {
    let Some(_) = &node.sasl else {
        return SaslHandshakeResponse::default()
            .with_error_code(ResponseError::IllegalSaslState.code());
    };
    let response =
        SaslHandshakeResponse::default().with_mechanisms(vec![StrBytes::from_static_str("PLAIN")]);
    if request.mechanism.as_str() == "PLAIN" {
        response
    } else {
        response.with_error_code(ResponseError::UnsupportedSaslMechanism.code())
    }
}

/// Compares user and password; the text of a refusal is a real broker's.
pub(super) fn authenticate(
    node: &Node,
    session: &mut Session,
    request: &SaslAuthenticateRequest,
) -> SaslAuthenticateResponse {
    let mut parts = request.auth_bytes.split(|byte| *byte == 0).skip(1);
    let given = (parts.next(), parts.next());
    let right = node.sasl.as_ref().is_some_and(|(user, password)| {
        given == (Some(user.as_bytes()), Some(password.as_bytes()))
    });
    if right {
        session.authenticated = true;
        return SaslAuthenticateResponse::default();
    }
    let text = "Authentication failed: Invalid username or password";
    SaslAuthenticateResponse::default()
        .with_error_code(ResponseError::SaslAuthenticationFailed.code())
        .with_error_message(Some(StrBytes::from_static_str(text)))
}
