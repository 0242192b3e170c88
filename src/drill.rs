//! SHELL: panics on demand, in debug builds only: how a test sees that a panic in the running process ends one call.

/// Panics where the environment variable `STREAMSCOPE_DRILL` names this place. A release build has nothing of it.
#[inline]
#[track_caller]
pub(crate) fn at(place: &str) {
    #[cfg(debug_assertions)]
    assert!(
        std::env::var("STREAMSCOPE_DRILL").as_deref() != Ok(place),
        "a drill in {place}"
    );
    #[cfg(not(debug_assertions))]
    let _ = place;
}
