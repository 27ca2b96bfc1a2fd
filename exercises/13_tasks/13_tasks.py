# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 13: task-driven queries
#
# They belong to the chapter *Task-driven queries*. You need Python with torch, here or on Colab, and about 115 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 a task in the query | 12 | 25 | ★★☆ | `added`, `gated`, `key_shift` |
# | Q2 two pointers | 13 | 30 | ★★★ | `pointer_weights`, `span_loss`, `best_span` |
# | Q3 a query from two words | 11 | 20 | ★★☆ | `pair_weights`, `truth_share` |
# | Q4 find the bug | 6 | 10 | ★★☆ | `mean_by_task`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` texts, `n` words of the longest text, `q` queries, `d` features. A text has a length; what stands behind it is padding, which may be any finite number and has no effect. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. A task in the query
#
# *12 points, 25 minutes, ★★☆.* Each text of a batch has a task, whose embedding is $\mathbf{t}$. It has several queries, made from vectors $\mathbf{x}$ and the task of their text.
#
# - `added` makes the queries $\mathbf{W} (\mathbf{x} + \mathbf{t})$, where $\mathbf{W}$ is a matrix of `d` rows and columns.
# - `gated` makes the queries $(1 + \mathbf{t}) \odot \mathbf{W} \mathbf{x}$: each feature of $\mathbf{W} \mathbf{x}$ is multiplied by a number of the task.
# - `key_shift` says what happens if the task is added to the keys instead. Scores are $\mathbf{q}^\top \mathbf{k} / \sqrt d$. By how much does every score of a query change when $\mathbf{t}$ is added to every key of its text?
#
# *Deliverable:* the three functions.


# %%
def added(x, t, W):
    """Queries (b, q, d) of x (b, q, d), tasks (b, d) and a matrix (d, d)."""
    ### BEGIN SOLUTION
    both = x + t[:, None]
    return both @ W.T
    ### END SOLUTION


def gated(x, t, W):
    """Queries (b, q, d) of x (b, q, d), tasks (b, d) and a matrix (d, d)."""
    ### BEGIN SOLUTION
    gate = 1 + t[:, None]
    return gate * (x @ W.mT)
    ### END SOLUTION


def key_shift(Q, t):
    """The change (b, q) of the scores of queries (b, q, d), for tasks (b, d)."""
    ### BEGIN SOLUTION
    return torch.einsum("bqd,bd->bq", Q, t) / Q.shape[2] ** 0.5
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Two pointers
#
# *13 points, 30 minutes, ★★★.* Each word of a text has two scores: how well does the answer begin here, and how well does it end here? `S[:, 0]` are the first, `S[:, 1]` the second. They may be in the hundreds.
#
# - `pointer_weights` gives the softmax of either score over the words of the text. Padding has the weight 0.
# - `span_loss` is $-\ln \alpha_{\text{begin}} - \ln \alpha_{\text{end}}$ for the true first and last word, averaged over the texts.
# - `best_span` gives the first and the last word of the span whose two scores have the largest sum, of all spans inside the text that do not end before they begin and have **at most `longest` words**. There is one of them.
#
# *Deliverable:* the three functions; `best_span` gives whole numbers, counted from 0.


# %%
def pointer_weights(S, lengths):
    """Weights (b, 2, n) of scores (b, 2, n) and lengths (b,)."""
    ### BEGIN SOLUTION
    used = torch.arange(S.shape[2]) < lengths[:, None, None]
    return S.masked_fill(~used, -torch.inf).softmax(dim=2)
    ### END SOLUTION


def span_loss(S, spans, lengths):
    """The loss, a tensor of no axes, of scores (b, 2, n), true spans (b, 2) and lengths (b,)."""
    ### BEGIN SOLUTION
    inside = torch.arange(S.shape[2]) < lengths[:, None, None]
    logs = F.log_softmax(S.masked_fill(~inside, -torch.inf), dim=2)
    return -logs.gather(2, spans[:, :, None]).sum(dim=1).mean()
    ### END SOLUTION


def best_span(S, lengths, longest):
    """First and last words (b, 2) of scores (b, 2, n), lengths (b,) and a number."""
    ### BEGIN SOLUTION
    place = torch.arange(S.shape[2])
    words = place - place[:, None] + 1  # of the span from row to column
    fits = (words >= 1) & (words <= longest) & (place < lengths[:, None, None])
    total = S[:, 0, :, None] + S[:, 1, None, :]
    best = total.masked_fill(~fits, -torch.inf).flatten(1).argmax(dim=1)
    return torch.stack([best // len(place), best % len(place)], dim=1)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A query from two words
#
# *11 points, 20 minutes, ★★☆.* What is the relation between two words of a text? The query is $\mathbf{q} = \mathbf{W}_q\, [\mathbf{s}_i; \mathbf{s}_j]$, made from **the state of the first word and then that of the second**; its score against the state of a word is $\mathbf{q}^\top \mathbf{s} / \sqrt d$.
#
# - `pair_weights` gives the softmax of these scores over the words of the text, and 0 for padding.
# - `truth_share` is the mean of the weights on the words where the truth stands. Of some texts there is no truth, and its place is $-1$: they do not count. At least one text counts.
#
# *Deliverable:* the two functions.


# %%
def pair_weights(states, pairs, W_q, lengths):
    """Weights (b, n) of states (b, n, d), two places each (b, 2), a matrix (d, 2d), lengths (b,)."""
    ### BEGIN SOLUTION
    text = torch.arange(len(states))
    both = torch.cat([states[text, pairs[:, 0]], states[text, pairs[:, 1]]], dim=1)
    scores = (states @ (both @ W_q.T)[:, :, None])[:, :, 0] / states.shape[2] ** 0.5
    real = torch.arange(states.shape[1]) < lengths[:, None]
    return scores.masked_fill(~real, -torch.inf).softmax(dim=1)
    ### END SOLUTION


def truth_share(weights, places):
    """The mean, a number, of weights (b, n) at places (b,), of those that are not -1."""
    ### BEGIN SOLUTION
    told = places >= 0
    return weights[told, places[told]].mean()
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *6 points, 10 minutes, ★★☆.* One reader learns several tasks from mixed batches. So that a frequent task does not drown a rare one, the loss of a batch is **the mean over the tasks of each task's own mean**. Tasks that do not occur in the batch do not count. Somebody wrote it, and **one line is wrong**. Find it, mend it, and remove the line that raises.
#
# *Deliverable:* `mean_by_task`, with one line changed.


# %%
def mean_by_task(losses, task, tasks):
    """The loss, a tensor of no axes, of losses (b,), numbers of tasks (b,), and how many there are."""
    ### BEGIN SOLUTION
    total = torch.zeros(tasks, dtype=losses.dtype).index_add(0, task, losses)
    counts = task.bincount(minlength=tasks)
    means = total / counts.clamp(min=1)
    return means.sum() / (counts > 0).sum()
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| total = torch.zeros(tasks, dtype=losses.dtype).index_add(0, task, losses)
    #| counts = task.bincount(minlength=tasks)
    #| means = total / counts.clamp(min=1)
    #| return means.sum() / tasks
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* A colleague adds the embedding of the task to the embeddings of all words of a text. The words then go through a linear layer, which makes the keys, and a query that is the same for all tasks is compared with them by a dot product. The reader answers every task alike. Explain why, and name two different changes that would help, each with its reason. What does more data help?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# A linear layer maps the sum of a word and the task to the sum of two parts, so all keys are moved by the same vector. Their scores all change by the same number, its product with the query, and a softmax does not see that. Either the task goes into the query, where it meets each key's own features: then the change of a score differs from key to key. Or something that is not linear stands between the sum and the score, a hidden layer or a recurrent one, so that the task changes each key in another way. More data changes nothing, since the weights do not depend on the task for any parameters.
#
# *Rubric, 4 points:* all scores change by one number, which the softmax cancels (2, one for the first half alone); two changes, each with its reason (1, half for one of them); data do not help, since it holds for all parameters (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about tasks in queries that a run of a minute can answer, and answer it with your functions from above. (For instance: how far may $\mathbf{t}$ move before the weights are those of another task?) Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
for seed in range(3):
    torch.manual_seed(seed)
    x, K, W = torch.randn(1, 200, 16), torch.randn(1, 10, 16), torch.eye(16)
    plain = (x @ K.mT).argmax(dim=2)
    for size in (0.1, 1.0, 10.0):
        t = size * torch.randn(1, 16)
        ways = {"added": added(x, t, W), "gated": gated(x, t, W)}
        same = {
            w: f"{((Q @ K.mT).argmax(dim=2) == plain).float().mean():.2f}" for w, Q in ways.items()
        }
        print(seed, size, same)
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# How large must a task be until it decides alone? I expected that a large added task makes all queries choose one key, so that few of them keep their choice, and that a gate of any size lets the query matter. The table shows the share of queries that keep their best key, over three seeds: with an added task of size 10 it is about that of chance. With the gate it falls as well, which I did not expect; it does not show that all queries choose one key there, for which the choices themselves would have to be counted.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
