//! TLS to the registry: the system's authorities, and one's own beside them.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::connection::Failure;

/// How connections are made safe.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Trusts the system's authorities and those of the file `ca`; presents the certificate and key in `identity`.
    ///
    /// # Errors
    /// The key of the section that is to blame, and why.
    pub(crate) fn new(
        ca: Option<&Path>,
        identity: Option<(&Path, &Path)>,
    ) -> Result<Self, (&'static str, String)> {
        let mut roots = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        // One that cannot be read is left out, as everybody does.
        roots.add_parsable_certificates(system.certs);
        if let Some(ca) = ca {
            for certificate in certificates("ca", ca)? {
                roots
                    .add(certificate)
                    .map_err(|error| ("ca", format!("{}: {error}", ca.display())))?;
            }
        }
        if roots.is_empty() {
            let message =
                "this machine has no list of certificate authorities: name the registry's in `ca`";
            return Err(("", message.to_owned()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ("", error.to_string()))?
            .with_root_certificates(roots);
        let config = match identity {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates("cert", certificate)?;
                let key_der = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| ("key", format!("{}: {error}", key.display())))?;
                config
                    .with_client_auth_cert(chain, key_der)
                    .map_err(|error| ("key", format!("{}: {error}", key.display())))?
            }
        };
        Ok(Tls(Arc::new(config)))
    }

    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| Failure::Rejected(format!("{host}: {error}")))?;
        let connecting = TlsConnector::from(Arc::clone(&self.0)).connect(name, stream);
        connecting.await.map_err(|error| {
            // A connection that breaks off may hold the next time.
            let passing = || Failure::Passing(format!("the TLS handshake broke off: {error}"));
            rejected(&error).unwrap_or_else(passing)
        })
    }
}

/// What one side ended by TLS's rules, which fails the next time too. Under TLS 1.3 a client learns that its certificate is
/// refused, or wanted, only when it waits for the answer.
pub(super) fn rejected(error: &(dyn std::error::Error + 'static)) -> Option<Failure> {
    let inside = error.downcast_ref::<std::io::Error>()?.get_ref()?;
    let said = inside.downcast_ref::<rustls::Error>()?;
    Some(Failure::Rejected(format!(
        "does not pass the TLS handshake ({said}): check `deserializer.registry.tls` and the registry's certificate"
    )))
}

fn certificates(
    key: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, (&'static str, String)> {
    let wrong = |error: &dyn std::fmt::Display| (key, format!("{}: {error}", path.display()));
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(&error));
    let read = read?;
    match read.is_empty() {
        true => Err(wrong(&"there is no certificate in it")),
        false => Ok(read),
    }
}
