//! A blocking HTTP client for ClickHouse, as small as tests need it.

use super::error::ServiceError;
use std::time::Duration;

/// The address and credentials of one server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) url: String,
    pub(crate) user: String,
    pub(crate) password: String,
    agent: ureq::Agent,
}

impl Client {
    /// `url` may carry `user:password@`, which is taken out of it.
    pub(crate) fn new(url: &str, user: Option<String>, password: Option<String>) -> Client {
        let (url, in_url) = split_user(url.trim_end_matches('/'));
        let (url_user, url_password) =
            in_url.unwrap_or_else(|| ("default".to_owned(), String::new()));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            // A kept connection would fail once after every restart of the server.
            .max_idle_connections(0)
            .timeout_connect(Some(Duration::from_secs(5)))
            .timeout_global(Some(Duration::from_secs(300)))
            .build()
            .new_agent();
        Client {
            url,
            user: user.unwrap_or(url_user),
            password: password.unwrap_or(url_password),
            agent,
        }
    }

    pub(crate) fn ping(&self) -> bool {
        self.agent
            .get(format!("{}/ping", self.url))
            .call()
            .is_ok_and(|r| r.status().as_u16() == 200)
    }

    /// Sends `body` with the parameters in the URL.
    pub(crate) fn post(
        &self,
        path: &str,
        params: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Vec<u8>, ServiceError> {
        let unreachable = |e: ureq::Error| ServiceError::Unreachable {
            service: "ClickHouse",
            url: self.url.clone(),
            detail: e.to_string(),
        };
        let mut request = self.agent.post(format!("{}{path}", self.url));
        for (name, value) in params {
            request = request.query(name, value);
        }
        let mut answer = request
            .header("X-ClickHouse-User", &self.user)
            .header("X-ClickHouse-Key", &self.password)
            .send(body)
            .map_err(unreachable)?;
        let status = answer.status().as_u16();
        let header = answer
            .headers()
            .get("X-ClickHouse-Exception-Code")
            .and_then(|v| v.to_str().ok()?.parse().ok());
        let body = answer
            .body_mut()
            .with_config()
            .limit(u64::MAX)
            .read_to_vec()
            .map_err(unreachable)?;
        if status == 200 && header.is_none() {
            return Ok(body);
        }
        let message = String::from_utf8_lossy(&body).trim().to_owned();
        let code = header.or_else(|| code_in(&message));
        Err(ServiceError::Query {
            status,
            code,
            message,
        })
    }
}

fn code_in(message: &str) -> Option<u32> {
    let digits = message.split_once("Code: ")?.1;
    digits[..digits.find(|c: char| !c.is_ascii_digit())?]
        .parse()
        .ok()
}

fn split_user(url: &str) -> (String, Option<(String, String)>) {
    if let Some((scheme, rest)) = url.split_once("://")
        && let Some((credentials, host)) = rest.rsplit_once('@')
    {
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        return (
            format!("{scheme}://{host}"),
            Some((user.to_owned(), password.to_owned())),
        );
    }
    (url.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out_of_the_url() {
        let client = Client::new("http://etl:s3cret@127.0.0.1:8123/", None, None);
        assert_eq!(
            (client.url.as_str(), client.user.as_str()),
            ("http://127.0.0.1:8123", "etl")
        );
        assert_eq!(client.password, "s3cret");
        assert_eq!(
            Client::new("http://127.0.0.1:8123", None, None).user,
            "default"
        );
    }

    #[test]
    fn the_code_is_read_from_the_text_when_no_header_has_it() {
        assert_eq!(
            code_in("Code: 252. DB::Exception: Too many parts"),
            Some(252)
        );
        assert_eq!(code_in("no code here"), None);
    }
}
