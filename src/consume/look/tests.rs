use std::collections::HashMap;

use rdkafka::mocking::MockCluster;
use serde_json::json;

use super::*;
use crate::config::Settings;

/// librdkafka's mock cluster names a controller that is not there.
#[tokio::test]
async fn a_cluster_without_controller_is_read_too() {
    let cluster = MockCluster::new(2).unwrap();
    cluster.create_topic("t", 2, 1).unwrap();
    let settings = json!({ "bootstrapServers": cluster.bootstrap_servers() });
    let settings = Settings::parse(settings.to_string().as_bytes(), &HashMap::new()).unwrap();
    let clients = Clients::new(&settings).unwrap();
    let topic = TopicName::parse("t").unwrap();
    let described = clients
        .describe(&topic, PartitionSelection::One(1))
        .await
        .unwrap();
    assert_eq!(described.partitions, [1]);

    let subject = Subject {
        topic,
        partition: PartitionSelection::All,
        isolation: IsolationLevel::ReadCommitted,
    };
    let maker = clients.reader(subject.isolation);
    let looked = look(
        &maker.make().unwrap(),
        &subject,
        maker.bootstrap(),
        Duration::from_secs(5),
    )
    .unwrap();
    let empty = |partition| Extent {
        partition,
        low: 0,
        high: 0,
    };
    assert_eq!(
        (looked.extents, looked.closed),
        (vec![empty(0), empty(1)], vec![])
    );
}

#[test]
fn one_partition() {
    let topic = TopicName::parse("t").unwrap();
    let found = || Topic {
        id: None,
        partitions: vec![0, 1, 2],
        leaderless: vec![],
    };
    let unknown = |partition| {
        Err(KafkaError::UnknownPartition {
            topic: TopicName::parse("t").unwrap(),
            partition,
            last: 2,
        })
    };
    for (selection, want) in [
        (PartitionSelection::All, Ok(vec![0, 1, 2])),
        (PartitionSelection::One(2), Ok(vec![2])),
        (PartitionSelection::One(3), unknown(3)),
    ] {
        let got = select(found(), &topic, selection).map(|topic| topic.partitions);
        assert_eq!(got, want, "{selection:?}");
    }
}
