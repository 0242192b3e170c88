//! The few settings that a broker and a topic have here.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult,
};
use kafka_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use kafka_protocol::protocol::StrBytes;

use super::super::Node;

/// Describes topics and brokers; anything else is an invalid request.
pub(super) fn answer(node: &Node, request: DescribeConfigsRequest) -> DescribeConfigsResponse {
    let results = request.resources.into_iter().map(|resource| {
        let result = DescribeConfigsResult::default().with_resource_type(resource.resource_type);
        let result = match resource.resource_type {
            TOPIC if node.store.by_name(&resource.resource_name).is_none() => {
                result.with_error_code(ResponseError::UnknownTopicOrPartition.code())
            }
            TOPIC => {
                let retention = node.store.retention().bytes.to_string();
                let settings = [
                    ("cleanup.policy", "delete"),
                    ("retention.bytes", retention.as_str()),
                ];
                result.with_configs(configs(&resource, &settings))
            }
            BROKER => {
                let auto_create = node.auto_create.to_string();
                let settings = [("auto.create.topics.enable", auto_create.as_str())];
                result.with_configs(configs(&resource, &settings))
            }
            _ => result.with_error_code(ResponseError::InvalidRequest.code()),
        };
        result.with_resource_name(resource.resource_name)
    });
    DescribeConfigsResponse::default().with_results(results.collect())
}

fn configs(
    wanted: &DescribeConfigsResource,
    settings: &[(&str, &str)],
) -> Vec<DescribeConfigsResourceResult> {
    let keys = wanted.configuration_keys.as_ref();
    settings
        .iter()
        .filter(|(name, _)| keys.is_none_or(|keys| keys.iter().any(|key| key.as_str() == *name)))
        .map(|(name, value)| {
            DescribeConfigsResourceResult::default()
                .with_name(StrBytes::from_string((*name).into()))
                .with_value(Some(StrBytes::from_string((*value).into())))
                .with_read_only(true)
                .with_config_source(DEFAULT_CONFIG)
        })
        .collect()
}

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const DEFAULT_CONFIG: i8 = 5;
