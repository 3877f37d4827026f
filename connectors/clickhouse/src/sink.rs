//! The sink: one INSERT for each block, confirmed by a complete and clean answer.
//!
//! Every attempt at a block sends the same bytes under the same deduplication token, so that a block whose confirmation was
//! lost is stored once where the table deduplicates. An attempt never repeats itself: the engine's worker does.

mod check;
mod statement;
mod types;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use spate_runtime::config::{OpenError, Section};
use spate_runtime::error::ConnectorError;
use spate_runtime::sink::{Block, Column, RowInfo, ShardWriter, Sink, SinkFuture, SinkKind};
use spate_runtime::source::OpenContext;

use crate::config::Config;
use crate::error::Error;
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
        let header: Bytes =
            statement::header(row.columns.iter().map(|column| (column.name, column.ty))).into();
        let mut shards = Vec::with_capacity(config.shards.len());
        for endpoint in &config.shards {
            let place = format!(
                "{}, table {}.{}",
                endpoint.url(),
                config.database,
                config.table
            );
            let client = Client::new(
                endpoint.clone(),
                config.login.clone(),
                config.timeouts.clone(),
            )
            .map_err(|_| section.error("", "a host that no HTTP header can carry"))?;
            shards.push(Arc::new(Shard {
                client,
                place,
                insert: insert.clone(),
                list: statement::columns(&config),
                columns: row.columns,
                header: Mutex::new(header.clone()),
            }));
        }
        Ok(Box::new(ShardedTable { shards }))
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
}

/// What a shard's check and its writer share.
struct Shard {
    client: Client,
    /// The URL and the table, for messages.
    place: String,
    /// The parameters of an insert, without the token.
    insert: String,
    /// The parameters of the check's query.
    list: String,
    columns: &'static [Column],
    /// The header of every block: in the compiled spelling until the check has seen the server's.
    header: Mutex<Bytes>,
}

impl Shard {
    async fn check(&self) -> Result<(), ConnectorError> {
        let columns = async {
            let answer = self
                .client
                .another()
                .post(&self.list, Vec::new(), check::MAX_LIST)
                .await?;
            check::compare(&answer.into_body()?, self.columns)
        };
        let header = columns
            .await
            .map_err(|error| error.into_connector(&self.place))?;
        *self.header.lock().unwrap_or_else(PoisonError::into_inner) = header;
        Ok(())
    }

    fn header(&self) -> Bytes {
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

    fn check(&self) -> SinkFuture {
        let shards = self.shards.clone();
        Box::pin(async move {
            for shard in shards {
                shard.check().await?;
            }
            Ok(())
        })
    }

    fn writer(&self, shard: usize) -> Box<dyn ShardWriter> {
        let shard = self.shards[shard].clone();
        let client = shard.client.another();
        Box::new(Writer { shard, client })
    }
}

/// Writes one shard's blocks over a connection of its own.
struct Writer {
    shard: Arc<Shard>,
    client: Client,
}

impl ShardWriter for Writer {
    fn write(&mut self, block: &Block) -> SinkFuture {
        let (shard, client) = (self.shard.clone(), self.client.clone());
        let query = statement::with_token(&shard.insert, block.token());
        let mut pieces = Vec::with_capacity(block.chunks().len() + 1);
        pieces.push(shard.header());
        pieces.extend_from_slice(block.chunks());
        Box::pin(async move {
            let confirmed = async { client.post(&query, pieces, MAX_ANSWER).await?.confirm() };
            confirmed
                .await
                .map_err(|error: Error| error.into_connector(&shard.place))
        })
    }
}
