//! TLS to the registry: whom we trust, and what is said where one side does not trust the other.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use spate_avro::AvroRecord as _;
use spate_runtime::decode::Admit;

use crate::server::{Server, schema};
use crate::{Pair, Stage, framed, pair, wait};

/// An authority, a server's certificate for `127.0.0.1` and a client's, as files.
struct Files {
    dir: PathBuf,
    server: Arc<ServerConfig>,
}

impl Files {
    fn new(name: &str, clients_need_one: bool) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("registry-tls-{name}"));
        std::fs::create_dir_all(&dir).expect("a folder");
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key"))
            .expect("an authority");
        let certificate = |host: &str| {
            let key = KeyPair::generate().expect("a key");
            let params = CertificateParams::new([host.to_owned()]).expect("parameters");
            let certificate = params.signed_by(&key, &authority).expect("a certificate");
            (certificate.pem(), key.serialize_pem())
        };
        let (client, client_key) = certificate("client");
        for (file, text) in [
            ("ca.pem", authority.pem()),
            ("client.pem", client),
            ("client.key", client_key),
        ] {
            std::fs::write(dir.join(file), text).expect("a file");
        }
        let (chain, key) = certificate("127.0.0.1");
        let der =
            |text: &str| CertificateDer::from_pem_slice(text.as_bytes()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = if clients_need_one {
            let mut roots = RootCertStore::empty();
            roots.add(der(&authority.pem())).expect("an authority");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let server = builder
            .with_single_cert(vec![der(&chain)], key)
            .expect("a certificate and its key");
        Files {
            dir,
            server: Arc::new(server),
        }
    }

    fn path(&self, file: &str) -> String {
        self.dir.join(file).display().to_string()
    }

    fn start(&self) -> Server {
        let server = Server::start_with(Some(Arc::clone(&self.server)));
        server.script(7, &[schema(Pair::SCHEMA)]);
        server
    }
}

fn stage(host: &str, server: &Server, tls: &str) -> Stage {
    Stage::open(&format!(
        "deserializer: {{ registry: {{ url: \"https://{host}:{}\"{tls} }} }}",
        server.port()
    ))
}

fn stopped(stage: &Stage) -> String {
    match wait(&mut *stage.gate(), &[framed(7, 1, "v")]) {
        Admit::Stop(error) => error.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_authority_of_ones_own_is_trusted_beside_the_systems() {
    let files = Files::new("own", false);
    let server = files.start();
    let tls = format!(", tls: {{ ca: {:?} }}", files.path("ca.pem"));
    let stage = stage("127.0.0.1", &server, &tls);
    assert_eq!(stage.run(&[framed(7, 1, "v")]), [pair(1, "v")]);
}

#[test]
fn a_certificate_that_is_not_trusted_stops_the_pipeline_at_once() {
    let (files, other) = (Files::new("trusted", false), Files::new("other", false));
    let server = files.start();
    let tls = format!(", tls: {{ ca: {:?} }}", other.path("ca.pem"));
    let message = stopped(&stage("127.0.0.1", &server, &tls));
    assert!(
        message.contains("does not pass the TLS handshake")
            && message.contains("`deserializer.registry.tls`"),
        "{message}"
    );
    // The right authority, another name.
    let tls = format!(", tls: {{ ca: {:?} }}", files.path("ca.pem"));
    let message = stopped(&stage("localhost", &server, &tls));
    assert!(message.contains("not valid for name"), "{message}");
    assert_eq!(
        server.count(7),
        0,
        "nothing was asked, so no password was sent"
    );
}

#[test]
fn a_registry_that_wants_to_know_its_clients_gets_their_certificate() {
    let files = Files::new("clients", true);
    let server = files.start();
    let ca = format!(", tls: {{ ca: {:?} }}", files.path("ca.pem"));
    // A request that breaks off before the refusal is read is made again.
    let message = stopped(&stage("127.0.0.1", &server, &ca));
    assert!(message.contains("certificate"), "{message}");
    let tls = format!(
        ", tls: {{ ca: {:?}, cert: {:?}, key: {:?} }}",
        files.path("ca.pem"),
        files.path("client.pem"),
        files.path("client.key")
    );
    let stage = stage("127.0.0.1", &server, &tls);
    assert_eq!(stage.run(&[framed(7, 1, "v")]), [pair(1, "v")]);
}

#[test]
fn a_server_that_speaks_no_tls_is_said_to_be_one() {
    let files = Files::new("plain", false);
    let server = Server::start();
    // A connection that breaks off may hold the next time.
    let tls = format!(
        ", give_up_after: 500ms, tls: {{ ca: {:?} }}",
        files.path("ca.pem")
    );
    let message = stopped(&stage("127.0.0.1", &server, &tls));
    assert!(message.contains("TLS"), "{message}");
}

/// Where the process runs that has no authorities.
const WITHOUT: &str = "SPATE_TEST_WITHOUT_AUTHORITIES";

#[test]
fn a_machine_without_authorities_is_told_so_before_anything_is_asked() {
    let files = Files::new("without", false);
    if std::env::var_os(WITHOUT).is_none() {
        // Which authorities the system has is a matter of the process.
        let this = "tls::a_machine_without_authorities_is_told_so_before_anything_is_asked";
        let empty = files.dir.join("empty");
        std::fs::create_dir_all(&empty).expect("a folder");
        std::fs::write(files.dir.join("none.pem"), "").expect("a file");
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", this, "--nocapture"])
            .env("SSL_CERT_FILE", files.dir.join("none.pem"))
            .env("SSL_CERT_DIR", empty)
            .env(WITHOUT, "1")
            .output()
            .expect("a process");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let url = "url: \"https://127.0.0.1:1\"";
    let error = Stage::try_open(&format!("deserializer: {{ registry: {{ {url} }} }}"))
        .err()
        .expect("nobody to trust");
    assert!(
        error.contains("no list of certificate authorities"),
        "{error}"
    );
    let ca = files.path("ca.pem");
    let own = format!("deserializer: {{ registry: {{ {url}, tls: {{ ca: {ca:?} }} }} }}");
    assert!(Stage::try_open(&own).is_ok(), "one's own is enough");
}
