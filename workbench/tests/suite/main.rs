//! The workbench against a small plugin of its own, which is this same program started by a host.

mod broker;
mod cli;
mod fake_plugin;
mod host;
mod http;
mod live;
mod producers;
mod server;

use libtest_mimic::{Arguments, Trial};

fn main() {
    if std::env::var_os("PLUGIN_PROTOCOL_VERSIONS").is_some() {
        return fake_plugin::run();
    }
    let cases = host::cases()
        .into_iter()
        .chain(broker::cases())
        .chain(producers::cases())
        .chain(server::cases())
        .chain(live::cases())
        .chain(cli::cases());
    libtest_mimic::run(&Arguments::from_args(), cases.collect()).exit();
}

/// Makes a case of an async function; it has a minute.
fn case<F>(name: &str, run: fn() -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        runtime
            .block_on(async {
                tokio::time::timeout(std::time::Duration::from_mins(1), run()).await
            })
            .map_err(|_| "took over a minute".into())
    })
}
