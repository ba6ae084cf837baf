//! Stage 10: verified pairs + ranks → stars around the documents that are kept.
//!
//! In: families of documents (equal shingle sets), who ranks before whom, who is near whom. Out: a representative for every
//! document, with the similarity between the two. Invariant: each document is in one cluster, each cluster keeps exactly one
//! document, and every removed one reaches the threshold *with its own representative* (no chains). Cost: linear in families
//! and leaders' partners. Drops nothing.

mod components;
mod stars;

use serde::{Deserialize, Serialize};

pub use components::Components;
pub use stars::{Members, Neighbours, Stars};

/// What `cluster_id` and `cluster_size` describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterMode {
    /// A representative and the documents near it.
    Conservative,
    /// Everything connected by chains of near-duplicates. What is removed stays the same as in `conservative`.
    Transitive,
}
