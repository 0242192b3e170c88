//! What clients ask before they know that they need no coordinator.

use std::sync::atomic::{AtomicI64, Ordering};

use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::{
    FindCoordinatorRequest, FindCoordinatorResponse, InitProducerIdRequest, InitProducerIdResponse,
    ProducerId, RequestHeader,
};

use super::super::Node;
use super::metadata::{NODE_ID, host};

/// Names this node as the coordinator of everything.
pub(super) fn find(
    node: &Node,
    header: &RequestHeader,
    request: FindCoordinatorRequest,
) -> FindCoordinatorResponse {
    let port = i32::from(node.address.port());
    if header.request_api_version < 4 {
        return FindCoordinatorResponse::default()
            .with_node_id(NODE_ID)
            .with_host(host(node))
            .with_port(port);
    }
    let coordinators = request.coordinator_keys.into_iter().map(|key| {
        Coordinator::default()
            .with_key(key)
            .with_node_id(NODE_ID)
            .with_host(host(node))
            .with_port(port)
    });
    FindCoordinatorResponse::default().with_coordinators(coordinators.collect())
}

/// Gives idempotent producers an id; their sequences are not checked.
pub(super) fn producer_id(_: &InitProducerIdRequest) -> InitProducerIdResponse {
    static NEXT: AtomicI64 = AtomicI64::new(1);
    InitProducerIdResponse::default()
        .with_producer_id(ProducerId(NEXT.fetch_add(1, Ordering::Relaxed)))
        .with_producer_epoch(0)
}
