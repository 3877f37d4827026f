//! The jars of Apache Kafka, resolved by Maven from the pinned coordinates in `services/kafka-pom.xml`.

use super::error::ServiceError;
use super::{install, prerequisites};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const POM: &str = include_str!("../../services/kafka-pom.xml");

/// The folder with the jars, fetched if need be.
pub(crate) fn kafka_jars() -> Result<PathBuf, ServiceError> {
    let dir = install::installed("apache-kafka", POM, |site| {
        let dir = site.dir;
        // Checked only here: once the jars are there, Maven is not needed.
        for prerequisite in prerequisites::for_apache_kafka() {
            prerequisite.check()?;
        }
        eprintln!(
            "spate-test: fetching Apache Kafka into {} (45 MB, once)",
            dir.display()
        );
        let pom = dir.join("pom.xml");
        fs::write(&pom, POM).map_err(ServiceError::io("write", &pom))?;
        site.run(
            "Apache Kafka",
            Command::new("mvn")
                .args(["--batch-mode", "--quiet", "--file"])
                .arg(&pom)
                .arg("package"),
        )?;
        eprintln!("spate-test: Apache Kafka is installed");
        Ok(())
    })?;
    Ok(dir.join("jars"))
}
