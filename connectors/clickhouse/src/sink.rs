//! The sink: one INSERT for each block, confirmed by a complete and clean answer.
//!
//! Every attempt at a block sends the same bytes under the same deduplication token, so that a block whose confirmation was
//! lost is stored once where the table deduplicates. An attempt never repeats itself: the engine's worker does.

mod check;
mod statement;
mod tokens;
mod types;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use spate_runtime::config::{ConfigError, OpenError, Section};
use spate_runtime::error::ConnectorError;
use spate_runtime::sink::{
    Block, CheckFuture, Checked, Column, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind,
};
use spate_runtime::source::OpenContext;

use crate::config::Config;
use crate::error::{Doing, Error};
use crate::http::Client;
use crate::kind::ClickHouse;

/// The most that is read of an insert's answer, in bytes: an error's text.
const MAX_ANSWER: usize = 64 * 1024;

impl SinkKind for ClickHouse {
    const KIND: &'static str = "clickhouse";
    const CONFIGURED: bool = true;

    fn open(
        section: &Section,
        row: RowInfo,
        _context: &OpenContext,
    ) -> Result<Box<dyn Sink>, OpenError> {
        let config = Config::read(section)?;
        check_row(&row)?;
        let insert = statement::insert(&config, row.columns);
        if insert.len() > statement::MAX_QUERY {
            let message = "the insert statement does not fit a URL: too many or too long column names and settings";
            return Err(section.error("", message).into());
        }
        let mut shards = Vec::with_capacity(config.shards.len());
        for replicas in &config.shards {
            let replicas = replicas.iter().map(|endpoint| {
                let client = Client::new(
                    endpoint.clone(),
                    config.login.clone(),
                    config.timeouts.clone(),
                )
                .map_err(|_| section.error("", "a host that no HTTP header can carry"))?;
                Ok(Replica {
                    client,
                    place: format!(
                        "{}, table {}.{}",
                        endpoint.url(),
                        config.database,
                        config.table
                    ),
                    header: Mutex::default(),
                })
            });
            shards.push(Arc::new(Shard {
                replicas: replicas.collect::<Result<_, ConfigError>>()?,
                insert: insert.clone(),
                columns_query: statement::columns(&config),
                tokens_query: statement::tokens(&config),
                table: format!("{}.{}", config.database, config.table),
                columns: row.columns,
            }));
        }
        Ok(Box::new(ShardedTable {
            shards,
            slowest_attempt: config.timeouts.slowest_attempt(),
        }))
    }
}

/// The columns of a row that was derived can be written; others are refused here.
fn check_row(row: &RowInfo) -> Result<(), ConnectorError> {
    if row.columns.is_empty() {
        return Err(ConnectorError::fatal(format!(
            "clickhouse: the row type `{}` has no columns",
            row.row
        )));
    }
    for (index, column) in row.columns.iter().enumerate() {
        if row.columns[..index]
            .iter()
            .any(|other| other.name == column.name)
        {
            let message = format!(
                "clickhouse: the row type `{}` has the column `{}` twice",
                row.row, column.name
            );
            return Err(ConnectorError::fatal(message));
        }
    }
    Ok(())
}

/// A table on one server or several.
struct ShardedTable {
    shards: Vec<Arc<Shard>>,
    slowest_attempt: Option<Duration>,
}

/// What the writers of a shard share.
struct Shard {
    replicas: Vec<Replica>,
    /// The parameters of an insert, without the token.
    insert: String,
    /// The parameters of the check's queries.
    columns_query: String,
    tokens_query: String,
    /// Database and table, for messages.
    table: String,
    columns: &'static [Column],
}

struct Replica {
    /// Without a connection of its own.
    client: Client,
    /// The URL and the table, for messages.
    place: String,
    /// The header of every block in this server's spelling, once the table has been looked at.
    header: Mutex<Option<Bytes>>,
}

impl Replica {
    /// Compares the table with the compiled columns, over the connection of `client`; the header of a block.
    async fn look(&self, shard: &Shard, client: &Client) -> Result<Bytes, Error> {
        let answer = client
            .post(&shard.columns_query, Vec::new(), check::MAX_LIST)
            .await?;
        let header = check::compare(&answer.into_body()?, shard.columns)?;
        *self.header.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.clone());
        Ok(header)
    }

    /// What an operator should know of the table's deduplication.
    async fn tokens(&self, shard: &Shard, client: &Client) -> Result<Vec<String>, Error> {
        let answer = client
            .post(&shard.tokens_query, Vec::new(), check::MAX_LIST)
            .await?;
        match answer.into_body() {
            Ok(body) => Ok(tokens::warnings(&body, &shard.table, shard.replicas.len())),
            // A user who may not look at it can write all the same.
            Err(error @ Error::Refused { .. }) => Ok(vec![format!(
                "whether table {} recognises a block that is sent twice could not be found out: {error}",
                shard.table
            )]),
            Err(error) => Err(error),
        }
    }

    fn header(&self) -> Option<Bytes> {
        self.header
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Sink for ShardedTable {
    fn shards(&self) -> usize {
        self.shards.len()
    }

    fn slowest_attempt(&self) -> Option<Duration> {
        self.slowest_attempt
    }

    fn writer(&self, shard: usize) -> Box<dyn ShardWriter> {
        let shard = self.shards[shard].clone();
        let clients = shard
            .replicas
            .iter()
            .map(|replica| replica.client.another());
        Box::new(Writer {
            clients: clients.collect(),
            shard,
        })
    }
}

/// Writes one shard's blocks, to each replica over a connection of its own.
struct Writer {
    shard: Arc<Shard>,
    clients: Vec<Client>,
}

impl ShardWriter for Writer {
    fn replicas(&self) -> usize {
        self.shard.replicas.len()
    }

    fn place(&self, replica: usize) -> String {
        self.shard.replicas[replica].place.clone()
    }

    fn check(&mut self, replica: usize) -> CheckFuture {
        let (shard, client) = (self.shard.clone(), self.clients[replica].clone());
        Box::pin(async move {
            let at = &shard.replicas[replica];
            let looked = async {
                at.look(&shard, &client).await?;
                at.tokens(&shard, &client).await
            };
            let warnings = looked
                .await
                .map_err(|error| error.into_connector(Doing::Check))?;
            Ok(Checked { warnings })
        })
    }

    fn write(&mut self, replica: usize, block: &Block) -> SinkFuture {
        let (shard, client) = (self.shard.clone(), self.clients[replica].clone());
        let query = statement::with_token(&shard.insert, block.token());
        let chunks = block.chunks().to_vec();
        Box::pin(async move {
            let at = &shard.replicas[replica];
            // A replica that was not there at start has not been looked at yet.
            let header = match at.header() {
                Some(header) => header,
                None => {
                    let looked = at.look(&shard, &client).await;
                    looked.map_err(|error| error.into_connector(Doing::Check))?
                }
            };
            let pieces = std::iter::once(header).chain(chunks).collect();
            let confirmed = async { client.post(&query, pieces, MAX_ANSWER).await?.confirm() };
            confirmed
                .await
                .map_err(|error: Error| error.into_connector(Doing::Insert))
        })
    }
}
