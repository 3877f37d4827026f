//! Rules of access, for tests: the `rdkafka` crate makes none.

use std::ffi::CString;
use std::ptr;

use rdkafka::bindings as c;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AclOperation {
    None,
    Describe,
    Read,
}

/// Lets a user do something with a topic, and waits until the brokers have taken the rule.
pub(crate) fn allow(brokers: &str, topic: &str, user: &str, operation: AclOperation) {
    let operation = match operation {
        AclOperation::None => return,
        AclOperation::Describe => c::rd_kafka_AclOperation_t::RD_KAFKA_ACL_OPERATION_DESCRIBE,
        AclOperation::Read => c::rd_kafka_AclOperation_t::RD_KAFKA_ACL_OPERATION_READ,
    };
    let client: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .create()
        .expect("a client is made");
    let native = client.client().native_client().ptr();
    let text = |text: &str| CString::new(text).expect("no zero byte");
    let (topic, user, host) = (text(topic), text(user), text("*"));
    // SAFETY: the client outlives the queue, and everything that is made here is destroyed here; the request copies it.
    unsafe {
        let queue = c::rd_kafka_queue_new(native);
        let mut rule = c::rd_kafka_AclBinding_new(
            c::rd_kafka_ResourceType_t::RD_KAFKA_RESOURCE_TOPIC,
            topic.as_ptr(),
            c::rd_kafka_ResourcePatternType_t::RD_KAFKA_RESOURCE_PATTERN_LITERAL,
            user.as_ptr(),
            host.as_ptr(),
            operation,
            c::rd_kafka_AclPermissionType_t::RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW,
            ptr::null_mut(),
            0,
        );
        assert!(!rule.is_null());
        c::rd_kafka_CreateAcls(native, &mut rule, 1, ptr::null(), queue);
        c::rd_kafka_AclBinding_destroy(rule);
        let event = c::rd_kafka_queue_poll(queue, 60_000);
        assert!(!event.is_null(), "the brokers answer");
        let mut count = 0;
        let result = c::rd_kafka_event_CreateAcls_result(event);
        let results = c::rd_kafka_CreateAcls_result_acls(result, &mut count);
        assert_eq!(count, 1);
        assert!(
            c::rd_kafka_acl_result_error(*results).is_null(),
            "the rule is taken"
        );
        c::rd_kafka_event_destroy(event);
        c::rd_kafka_queue_destroy(queue);
    }
}
