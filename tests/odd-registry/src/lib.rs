//! A schema registry for the tests: Confluent's API over a table of schemas, and any other answer that a test thinks of.
//!
//! ```
//! # fn main() -> anyhow::Result<()> {
//! use odd_registry::{Book, Reply, Server};
//!
//! let book = Book::default().schema("t-value", 7, r#""string""#);
//! let registry = Server::start(move |request| book.answer(request))?;
//! let closed = Server::start(|_| Reply::text(401, "text/html", "<h1>Log in</h1>"))?;
//! assert_ne!(registry.url(), closed.url());
//! assert_eq!(registry.requests().len(), 0);
//! # Ok(())
//! # }
//! ```

mod book;
mod certificates;
mod server;

pub use book::{Book, Entry, Kind};
pub use certificates::{Authority, Identity};
pub use server::{Reply, Request, Server};
