//! The paths that a stream's JSON has shown, and what followed what.

use std::collections::HashMap;

use crate::columns::ColumnId;
use crate::decode::gap::{Gap, word};
use crate::flatten::push_segment;

/// Names a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(u32);

/// The value itself.
pub(super) const ROOT: NodeId = NodeId(0);
/// A value that is no object: the column `value`.
pub(super) const SCALAR: NodeId = NodeId(1);
/// Every path past the limit.
pub(super) const LEFT_OUT: NodeId = NodeId(2);
/// Behind the whole object: no path.
pub(super) const END: NodeId = NodeId(u32::MAX);

/// Says where a path's values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// No value but null has come.
    Unknown,
    Column(ColumnId),
    /// The field limit was reached.
    LeftOut,
}

/// Is all paths of a stream, by parent and key.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    max_nodes: usize,
}

#[derive(Debug)]
struct Node {
    parent: NodeId,
    depth: usize,
    leaf: Leaf,
    path: Box<str>,
    /// By key, as an object.
    children: HashMap<Box<[u8]>, NodeId>,
    /// The gaps that followed this leaf.
    gaps: [Gap<NodeId>; MAX_GAPS],
    /// Which of them goes when another one comes.
    oldest: usize,
}

impl Tree {
    /// Makes a tree whose root is called `root`; it holds a few times `max_fields` paths, however many keys come.
    pub(super) fn new(root: &str, max_fields: usize) -> Self {
        let mut tree = Self {
            nodes: vec![
                Node::new(ROOT, 0, root),
                Node::new(ROOT, 0, "value"),
                Node::new(ROOT, usize::MAX, "(fields past the limit)"),
            ],
            max_nodes: 4 * max_fields + 64,
        };
        tree.clear();
        tree
    }

    /// Forgets every path but the first ones.
    pub(super) fn clear(&mut self) {
        self.nodes.truncate(LEFT_OUT.0 as usize + 1);
        for node in &mut self.nodes {
            *node = Node::new(node.parent, node.depth, &node.path);
        }
        self.set_leaf(LEFT_OUT, Leaf::LeftOut);
    }

    #[inline]
    pub(super) fn parent(&self, node: NodeId) -> NodeId {
        self.node(node).parent
    }

    /// Counts the segments of a path.
    #[inline]
    pub(super) fn depth(&self, node: NodeId) -> usize {
        self.node(node).depth
    }

    pub(super) fn path(&self, node: NodeId) -> &str {
        &self.node(node).path
    }

    #[inline]
    pub(super) fn leaf(&self, node: NodeId) -> Leaf {
        self.node(node).leaf
    }

    pub(super) fn set_leaf(&mut self, node: NodeId, leaf: Leaf) {
        self.nodes[node.0 as usize].leaf = leaf;
    }

    /// Finds or makes the path of `key` in `object`.
    pub(super) fn child(&mut self, object: NodeId, key: &[u8]) -> NodeId {
        let parent = self.node(object);
        if let Some(&child) = parent.children.get(key) {
            return child;
        }
        if self.nodes.len() >= self.max_nodes {
            return LEFT_OUT;
        }
        let mut path = String::from(&*parent.path);
        push_segment(&mut path, &String::from_utf8_lossy(key));
        let child = Node::new(object, parent.depth + 1, &path);
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(child);
        self.nodes[object.0 as usize]
            .children
            .insert(key.into(), id);
        id
    }

    /// Finds what follows `previous` where `rest` begins with a gap that followed it before; gives the gap's length too.
    #[inline]
    pub(super) fn predict(&self, previous: NodeId, rest: &[u8]) -> Option<(NodeId, usize)> {
        let word = word(rest);
        let mut gaps = self.node(previous).gaps.iter();
        gaps.find_map(|gap| Some((gap.next, gap.begins(word, rest)?)))
    }

    /// Remembers that `next` came behind `previous` and `gap`.
    pub(super) fn learn(&mut self, previous: NodeId, gap: &[u8], next: NodeId) {
        if previous == LEFT_OUT || next == LEFT_OUT || gap.len() > MAX_GAP {
            return;
        }
        // A place is used again, so that a topic in ever new orders allocates nothing.
        let node = &mut self.nodes[previous.0 as usize];
        node.gaps[node.oldest].set(gap, next);
        node.oldest = (node.oldest + 1) % MAX_GAPS;
    }

    #[inline]
    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }
}

impl Node {
    fn new(parent: NodeId, depth: usize, path: &str) -> Self {
        Self {
            parent,
            depth,
            leaf: Leaf::Unknown,
            path: path.into(),
            children: HashMap::new(),
            gaps: std::array::from_fn(|_| Gap::none(END)),
            oldest: 0,
        }
    }
}

/// How many gaps a leaf remembers: a few optional fields, but no shuffled order.
const MAX_GAPS: usize = 4;
/// The longest gap that is remembered, in bytes.
const MAX_GAP: usize = 512;
