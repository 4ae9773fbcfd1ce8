"""TreeRSVM's order-statistics tree (journal, section 4.2): a red-black tree that knows how many keys lie below a node.

Insertion, its repair and the rotations follow Cormen, Leiserson, Rivest and Stein's *Introduction to Algorithms*, which
the paper names; nothing is ever removed, so there is no deletion. Besides their number, nodes keep the sum of values
inserted with the keys: the order-statistic tree of P-SWX (section 2.1) needs sums.
"""

from __future__ import annotations

from math import log2


class Node:
    """A key with its links and colour; `size` and `total` are those of the subtree below it, itself included."""

    __slots__ = ("key", "left", "nodesize", "nodetotal", "parent", "red", "right", "size", "total")

    left: Node
    right: Node
    parent: Node

    def __init__(self, key: float, count: int, value: complex, red: bool) -> None:
        self.key, self.red = key, red
        self.nodesize = self.size = count
        self.nodetotal = self.total = value


class OrderStatisticsTree:
    """Keys with their multiplicities, in O(log r) an operation for r nodes.

    Parameters
    ----------
    one_node : bool
        True: equal keys share a node that counts them, `nodesize` (end of section 4.2), so that r is the number of
        distinct keys. False: each has a node of its own, as in Definition 1.
    """

    def __init__(self, one_node: bool = True) -> None:
        self.one_node = one_node
        self.nil = Node(float("nan"), 0, 0.0, red=False)  # the paper's empty set: size 0, black, below every leaf
        self.nil.left = self.nil.right = self.nil.parent = self.nil
        self.root = self.nil

    def insert(self, key: float, value: complex = 0.0) -> None:
        """Tree-Insert (Lemma 3): search, counting on the way down; then colours and rotations. O(log r)."""
        nil, parent, x = self.nil, self.nil, self.root
        while x is not nil:
            x.size += 1
            x.total += value
            if self.one_node and key == x.key:
                x.nodesize += 1
                x.nodetotal += value
                return
            parent, x = x, (x.left if key < x.key else x.right)
        node = Node(key, 1, value, red=True)
        node.left = node.right = nil
        node.parent = parent
        if parent is nil:
            self.root = node
        elif key < parent.key:
            parent.left = node
        else:
            parent.right = node
        self._repair(node)

    def _repair(self, node: Node) -> None:
        """Colours and at most two rotations, so that no red node has a red parent. O(log r)."""
        while node.parent.red:
            grandparent = node.parent.parent
            on_the_left = node.parent is grandparent.left
            uncle = grandparent.right if on_the_left else grandparent.left
            if uncle.red:
                node.parent.red = uncle.red = False
                grandparent.red = True
                node = grandparent
                continue
            if node is (node.parent.right if on_the_left else node.parent.left):  # an inner grandchild
                node = node.parent
                self._rotate(node, to_the_left=on_the_left)
            node.parent.red, grandparent.red = False, True
            self._rotate(grandparent, to_the_left=not on_the_left)
        self.root.red = False

    def _rotate(self, x: Node, to_the_left: bool) -> None:
        """A child of x takes its place, and x goes below it; sizes follow. O(1)."""
        y = x.right if to_the_left else x.left
        inner = y.left if to_the_left else y.right
        if to_the_left:
            x.right, y.left = inner, x
        else:
            x.left, y.right = inner, x
        if inner is not self.nil:
            inner.parent = x
        y.parent = x.parent
        if x.parent is self.nil:
            self.root = y
        elif x is x.parent.left:
            x.parent.left = y
        else:
            x.parent.right = y
        x.parent = y
        y.size, y.total = x.size, x.total
        x.size = x.left.size + x.right.size + x.nodesize
        x.total = x.left.total + x.right.total + x.nodetotal

    def smaller(self, k: float) -> tuple[int, complex]:
        """Number of keys below k, and the sum of their values. O(log r)."""
        x, count, total = self.root, 0, 0.0 + 0j
        while x is not self.nil:
            if x.key < k:
                count += x.left.size + x.nodesize
                total += x.left.total + x.nodetotal
                x = x.right
            else:
                x = x.left
        return count, total

    def larger(self, k: float) -> tuple[int, complex]:
        """Number of keys above k, and the sum of their values. O(log r)."""
        x, count, total = self.root, 0, 0.0 + 0j
        while x is not self.nil:
            if x.key > k:
                count += x.right.size + x.nodesize
                total += x.right.total + x.nodetotal
                x = x.left
            else:
                x = x.right
        return count, total

    def count_smaller(self, k: float) -> int:
        """Count-Smaller, Algorithm 2 of the journal, its recursion as a loop; `nodesize` in place of 1. O(log r)."""
        return self.smaller(k)[0]

    def count_larger(self, k: float) -> int:
        """Count-Larger, the mirror image. O(log r)."""
        return self.larger(k)[0]


def check_tree(tree: OrderStatisticsTree) -> None:
    """Raise AssertionError where Definition 1 or a property of red-black trees does not hold. O(r).

    The root is black; no red node has a red child; all paths down from a node pass as many black nodes; keys are in
    order; links go both ways; size(x) = size(left(x)) + size(right(x)) + nodesize(x); the height is at most
    2 log2(r + 1).
    """
    nil = tree.nil
    assert not nil.red, "the empty node is red"
    assert nil.size == nil.nodesize == 0, "the empty node has a size"
    assert not tree.root.red, "the root is red"
    assert tree.root.parent is nil, "the root has a parent"
    nodes, height, _ = _check_below(tree, tree.root, -float("inf"), float("inf"))
    assert height <= 2 * log2(nodes + 1), f"{nodes} nodes are {height} high"


def _check_below(tree: OrderStatisticsTree, x: Node, low: float, high: float) -> tuple[int, int, int]:
    """Number of nodes below x, their height, and the black ones among those on a path."""
    if x is tree.nil:
        return 0, 0, 0
    if tree.one_node:
        assert low < x.key < high, f"{x.key} is not between {low} and {high}"
    else:
        assert low <= x.key <= high, f"{x.key} is not between {low} and {high}"
        assert x.nodesize == 1, f"{x.key} is {x.nodesize} times in one node"
    assert not (x.red and (x.left.red or x.right.red)), f"{x.key} and a child are red"
    assert x.size == x.left.size + x.right.size + x.nodesize, f"{x.key} has size {x.size}"
    for child in (x.left, x.right):
        assert child is tree.nil or child.parent is x, f"a child of {x.key} has another parent"
    nodes_l, height_l, black_l = _check_below(tree, x.left, low, x.key)
    nodes_r, height_r, black_r = _check_below(tree, x.right, x.key, high)
    assert black_l == black_r, f"{x.key} has {black_l} black nodes to the left, {black_r} to the right"
    return nodes_l + nodes_r + 1, max(height_l, height_r) + 1, black_l + (not x.red)
