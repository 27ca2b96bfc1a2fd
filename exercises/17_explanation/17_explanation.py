# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 17: is attention an explanation?
#
# They belong to the chapter *Is attention an explanation?* You need Python with torch, here or on Colab, and about 115 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 the farthest counterfeit | 11 | 25 | ★★☆ | `moved`, `farthest` |
# | Q2 roll-out | 8 | 20 | ★★☆ | `rollout`, `by_head` |
# | Q3 find the bug | 6 | 15 | ★★☆ | `attend`, mended |
# | Q4 one path at a time | 11 | 25 | ★★★ | `layer`, `paths` |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` rows, `k` keys, `l` layers, `h` heads, `n` places that attend to each other, `d` features. In a mask **True means that a key may be attended to**. What stands at a masked key may be any finite number and has no effect. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. The farthest counterfeit
#
# *11 points, 25 minutes, ★★☆.* A model's answer is the sum of its weights times votes, $z = \sum_i w_i v_i$. A counterfeit is another row of weights with the same $z$.
#
# - `moved` says how far two rows of weights are apart: half the sum of the absolute differences of their weights.
# - `farthest` gives, for each row, the counterfeit that is farthest away by `moved`, and how far it is. It lies on at most two keys. One of them votes above $z$ or exactly $z$, the other one below $z$ or exactly $z$, and their votes differ. So it is enough to try all such pairs of keys that the mask allows. No two pairs are equally far. Where there is no such pair, or none is farther away than 0, the weights come back as they are, with the distance 0.
#
# Each row of weights sums to one, and masked keys have the weight 0. Each row has a key that may be attended to.
#
# *Deliverable:* the two functions.


# %%
def moved(one, other):
    """Distances (...) of weights (..., k) from others of the same shape."""
    ### BEGIN SOLUTION
    return (one - other).abs().sum(dim=-1) / 2
    ### END SOLUTION


def farthest(weights, votes, mask):
    """Other weights (b, k) and their distances (b,), of weights and votes (b, k), a mask (b, k)."""
    ### BEGIN SOLUTION
    found, distances = weights.clone(), torch.zeros(len(weights))
    for row, (w, v) in enumerate(zip(weights, votes, strict=True)):
        keys = mask[row].nonzero().flatten().tolist()
        z = (w[keys] * v[keys]).sum()
        for i in keys:
            for j in keys:
                if v[i] > v[j] and v[i] >= z >= v[j]:
                    other = torch.zeros_like(w)
                    other[i] = (z - v[j]) / (v[i] - v[j])
                    other[j] = 1 - other[i]
                    if moved(w, other) > distances[row]:
                        found[row], distances[row] = other, moved(w, other)
    return found, distances
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Roll-out
#
# *8 points, 20 minutes, ★★☆.* Roll-out multiplies the maps of all layers. The maps of a layer are averaged over its heads, and half of each layer counts as its own input, the rest as what it attends to. Row $i$ of the result holds the shares of the inputs in place $i$ of the last layer's output. The first layer stands first.
#
# - `rollout` does it for the maps of one sequence. Without any layer each place holds its own input alone.
# - `by_head` looks at the last layer's heads one by one: for each of them the roll-out in which this head's map stands for the whole last layer. The layers below are averaged over their heads as before.
#
# *Deliverable:* the two functions.


# %%
def rollout(maps):
    """Shares (n, n) of maps (l, h, n, n)."""
    ### BEGIN SOLUTION
    own = torch.eye(maps.shape[-1])
    through = own
    for A in maps.mean(dim=1):
        step = 0.5 * A + 0.5 * own
        through = step @ through
    return through
    ### END SOLUTION


def by_head(maps):
    """Shares (h, n, n) of maps (l, h, n, n) with at least one layer."""
    ### BEGIN SOLUTION
    rows = []
    for head in range(maps.shape[1]):
        alone = maps.clone()
        alone[-1] = maps[-1, head]  # in the place of all heads
        rows.append(rollout(alone))
    return torch.stack(rows)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Find the bug
#
# *6 points, 15 minutes, ★★☆.* `attend` is causal attention of several heads into which one can reach. Scores are dot products, divided by the square root of $d$. `change` is a function from weights to other weights of the same shape, or None. The changed weights are the ones that must be used, and the ones that come back. Somebody reports that no head of this model matters, whatever is forced. **One line is wrong.** Mend it, and remove the line that raises.
#
# *Deliverable:* `attend`, with one line changed.


# %%
def attend(q, k, v, change=None):
    """Pooled values (h, n, d) and weights (h, n, n) of q, k, v (h, n, d)."""
    ### BEGIN SOLUTION
    past = torch.ones(q.shape[1], q.shape[1]).tril().bool()
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
    changed = weights if change is None else change(weights)
    pooled = changed @ v
    return pooled, changed
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| past = torch.ones(q.shape[1], q.shape[1]).tril().bool()
    #| scores = q @ k.mT / q.shape[-1] ** 0.5
    #| weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
    #| changed = weights if change is None else change(weights)
    #| pooled = weights @ v
    #| return pooled, changed
    ### END RELEASED


# %%
### CHECK q3

# %% [markdown]
# ## Q4. One path at a time
#
# *11 points, 25 minutes, ★★★.* Path patching lets one input of a layer see another stream, while all others see the clean one.
#
# - `layer` is causal attention with one head. `matrices` holds $W_q$, $W_k$ and $W_v$. Scores are the plain dot products of queries and keys. The layer adds what it pooled to its input `x`. Queries, keys and values are computed from `x`, or from what is given in place of it.
# - `paths` gives four outputs of the layer, in this order. In the first only the queries come from `other`, in the second only the keys, in the third only the values. In the fourth queries, keys and values are clean, and the input to which the pooled values are added is `other`.
#
# *Deliverable:* the two functions.


# %%
def layer(x, matrices, queries=None, keys=None, values=None):
    """Output (n, d) of x (n, d), matrices (3, d, d), and streams (n, d) or None."""
    ### BEGIN SOLUTION
    q = (x if queries is None else queries) @ matrices[0]
    k = (x if keys is None else keys) @ matrices[1]
    v = (x if values is None else values) @ matrices[2]
    later = torch.ones(len(x), len(x)).triu(1).bool()
    weights = (q @ k.T).masked_fill(later, -torch.inf).softmax(dim=1)
    return x + weights @ v
    ### END SOLUTION


def paths(clean, other, matrices):
    """Outputs (4, n, d) of two streams (n, d) and matrices (3, d, d)."""
    ### BEGIN SOLUTION
    found = [layer(clean, matrices, **{name: other}) for name in ("queries", "keys", "values")]
    found.append(layer(other, matrices, clean, clean, clean))
    return torch.stack(found)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports of a reader of loan applications: "The map gives the applicant's income 0.9 of the weight, so the income decides. We also took each of the eight heads out in turn, and no answer changed in thirty applications, so no head matters. And since there is no counterfeit of these weights, the reader reads the right thing." What is wrong with each of the three conclusions, and what would you measure instead?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# The weight says how this layer mixed its values, and not what the answer depends on: change the income alone and see whether the answer changes, and do the same with words that have little weight. Heads that do the same work can each be spared, so take all eight out together, or force them elsewhere, and show that this kind of change can turn an answer at all; none of thirty still allows a rate of about a tenth. That there is no counterfeit says only that the reader needs these weights for its answer. Whether the income is what should decide is known from outside: from applications whose outcome is known, or from people who judge them.
#
# *Rubric, 4 points:* weight is not dependence, and an intervention on the input (1); heads that do the same work, taken out together or forced (1); a positive control, or the interval of none in thirty (1, half for naming it without a reason); no counterfeit is a statement about the model, with a judge from outside (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about counterfeits, roll-out or patched paths that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. `readers` draws weights and votes of documents.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.


# %%
def readers(b, k, seed, sharp=1.0):
    """Given: weights and votes (b, k) of b documents; the larger `sharp`, the fewer weights count."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(b, k, generator=random)
    return (sharp * scores).softmax(dim=1), torch.randn(b, k, generator=random)


# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("sentences   mean distance of the farthest counterfeit, three seeds; one strong vote")
for k in (3, 6, 12):
    alike, strong = [], []
    for seed in range(3):
        weights, votes = readers(40, k, seed)
        may = torch.ones_like(weights).bool()
        alike.append(f"{farthest(weights, votes, may)[1].mean():.2f}")
        one = -votes.abs()  # all against, but for the sentence with the largest weight
        one[torch.arange(40), weights.argmax(dim=1)] = 10.0
        strong.append(f"{farthest(weights, one, may)[1].mean():.2f}")
    print(f"{k:9}   {' '.join(alike)}      {' '.join(strong)}")
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Are counterfeits farther away in longer documents, and nearer where one sentence alone votes for the answer? I expected both: with more sentences there are more pairs to choose from, and with one strong vote each pair needs that sentence. Equal columns would have shown me wrong. In each of the three seeds the first column grows with the number of sentences, and the second one is smaller. Weights and votes are drawn here independently of each other, which training would not do, so the sizes say nothing about trained readers.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
