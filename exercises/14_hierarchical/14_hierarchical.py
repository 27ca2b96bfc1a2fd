# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 14: hierarchical attention
#
# They belong to the chapter *Hierarchical attention*. You need Python with torch, here or on Colab, and about 105 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 two levels | 15 | 25 | ★★☆ | `level`, `read` |
# | Q2 shares, and what is erased | 14 | 20 | ★★☆ | `shares`, `erase` |
# | Q3 agreement | 10 | 20 | ★★★ | `ranks`, `agreement` |
# | Q4 find the bug | 7 | 15 | ★★★ | `mean_of_means`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q6 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` documents, `s` sentences of each, `w` words of each sentence, `k` things of any kind, `d` features. In a mask **True means that there is a word**. A sentence without a word is padding. What stands at a masked place may be any finite number and has no effect. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Two levels
#
# *15 points, 25 minutes, ★★☆.* A level has a matrix $\mathbf{W}$ and a context vector $\mathbf{c}$. Its scores are
#
# $$ a_j = \mathbf{c}^\top \tanh(\mathbf{W} \mathbf{x}_j), $$
#
# its weights the softmax of the scores over what the mask leaves, its output the sum of the $\mathbf{x}_j$ with these weights. Where the mask leaves nothing, weights and output are zero.
#
# - `level` gives output and weights of rows of vectors.
# - `read` gives the vectors of documents: the words of each sentence go through a level with `W` and `c`, then the sentences through one with `V` and `e`. Padding sentences get no weight.
#
# *Deliverable:* the two functions.


# %%
def level(x, mask, W, c):
    """Output (b, d) and weights (b, k) of x (b, k, d), mask (b, k), W (h, d) and c (h)."""
    ### BEGIN SOLUTION
    x = x.masked_fill(~mask[:, :, None], 0.0)
    a = torch.tanh(x @ W.T) @ c
    some = mask.any(dim=1, keepdim=True)
    a = a.masked_fill(~mask & some, -torch.inf)
    weights = a.softmax(dim=1) * some
    return (weights[:, :, None] * x).sum(dim=1), weights
    ### END SOLUTION


def read(x, mask, W, c, V, e):
    """Documents (b, d) of words x (b, s, w, d) and a mask (b, s, w)."""
    ### BEGIN SOLUTION
    b, s, w, d = x.shape
    vectors, _ = level(x.reshape(b * s, w, d), mask.reshape(b * s, w), W, c)
    output, _ = level(vectors.reshape(b, s, d), mask.any(dim=2), V, e)
    return output
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Shares, and what is erased
#
# *14 points, 20 minutes, ★★☆.* The output of two levels is a weighted sum of the words of the document.
#
# - `shares` says with which weight each word stands in that sum, from the weights of words in their sentences and those of the sentences.
# - `erase` says how far the logit moves when a sentence is erased. The model gives the logit $\sum_i \alpha_i v_i$, where $\alpha_i$ is the softmax of the sentences' scores and $v_i$ the vote of a sentence. Erasing a sentence takes it out of the softmax. The change is the logit without the sentence minus the logit with all. There are two sentences at least; scores may be in the thousands.
#
# *Deliverable:* the two functions.


# %%
def shares(words, sentences):
    """Shares (b, s, w) of weights of words (b, s, w) and of sentences (b, s)."""
    ### BEGIN SOLUTION
    together = words * sentences[:, :, None]
    return together
    ### END SOLUTION


def erase(scores, votes):
    """Changes (s) of the logit of a document with scores (s) and votes (s)."""
    ### BEGIN SOLUTION
    a = 1.0 * scores
    whole = a.softmax(dim=0) @ votes
    gone = torch.eye(len(a), dtype=torch.bool)
    left = a.expand(len(a), -1).masked_fill(gone, -torch.inf).softmax(dim=1)
    return left @ votes - whole
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Agreement
#
# *10 points, 20 minutes, ★★★.* Weights and ratings are compared by their **ranks**. The smallest of $k$ numbers has rank 1, the largest rank $k$; equal numbers share the mean of the ranks that they take together. Spearman's correlation is the correlation of the two rows of ranks:
#
# $$ \rho = \frac{\sum_j (r_j - \bar r)(t_j - \bar t)}{\sqrt{\sum_j (r_j - \bar r)^2 \sum_j (t_j - \bar t)^2}}. $$
#
# - `ranks` gives the ranks of one row.
# - `agreement` gives $\rho$ of weights and ratings. A row of ratings is compared by how **strong** it is, $|\text{rating}|$. Where one of the rows is constant, $\rho$ is 0.
#
# *Deliverable:* the two functions; `agreement` gives a number.


# %%
def ranks(x):
    """Ranks (k) of numbers (k), of which some may be equal."""
    ### BEGIN SOLUTION
    below = (x[None] < x[:, None]).sum(dim=1)
    equal = (x[None] == x[:, None]).sum(dim=1)
    return below + (equal + 1) / 2
    ### END SOLUTION


def agreement(weights, ratings):
    """Spearman's correlation of weights (k) with ratings (k)."""
    ### BEGIN SOLUTION
    r, t = ranks(weights), ranks(ratings.abs())
    r, t = r - r.mean(), t - t.mean()
    scale = (r.square().sum() * t.square().sum()).sqrt()
    return float(r @ t / scale) if scale > 0 else 0.0
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *7 points, 15 minutes, ★★★.* The mean of the means of the sentences: each sentence is the mean of its words, the document the mean of its sentences; padding counts nowhere, and a document without a word is zero. Somebody wrote it, and **one line is wrong**. Find it, mend it, and remove the line that raises.
#
# *Deliverable:* `mean_of_means`, with one line changed.


# %%
def mean_of_means(x, mask):
    """Documents (b, d) of words x (b, s, w, d) and a mask (b, s, w)."""
    ### BEGIN SOLUTION
    x = x.masked_fill(~mask[..., None], 0.0)
    count = mask.sum(dim=2).clamp(min=1)
    vectors = x.sum(dim=2) / count[..., None]
    real = mask.any(dim=2).sum(dim=1).clamp(min=1)
    return vectors.sum(dim=1) / real[:, None]
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| x = x.masked_fill(~mask[..., None], 0.0)
    #| count = mask.sum(dim=2).clamp(min=1)
    #| vectors = x.sum(dim=2) / count[..., None]
    #| real = torch.full((len(x),), x.shape[1])
    #| return vectors.sum(dim=1) / real[:, None]
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* A reader of loan applications has an accuracy of 1.000 on a test set, and its largest sentence weight lies on the applicant's own statement in a third of the documents, in the others on the statement of somebody else. A colleague says: "At this accuracy it must have read the right sentence." What is wrong with that, what would you look at to decide what the model reads, and what would you change in the training data?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# Accuracy says that the answers are right, not from where. If the other statement always says the opposite, reading it and concluding the opposite gives the same answers. Give the model the applicant's statement alone, and then the other one alone: it uses what suffices for the right answer, and the answer that the other statement alone gives shows whether it is inverted. In the training data the other statement must say nothing of the label, for or against by chance.
#
# *Rubric, 4 points:* a right answer can come from another sentence that goes with the label (1); it may be read inverted (1); an intervention that decides it, such as each sentence alone or erased, and not a look at the weights (1); data in which the other statement is independent of the label (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about two levels of attention, or about agreement, that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
for k in (5, 20, 80):
    found = []
    for seed in range(3):
        torch.manual_seed(seed)
        found.append(agreement(torch.rand(k), torch.randn(k)))
    print(k, [f"{x:+.2f}" for x in found])
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# How large is the agreement of random weights with random ratings, by the number of sentences? I expected a spread of about one over the square root of the number. With five sentences single documents reach half and more by chance, with 80 about a tenth; three seeds show the order of size and not the spread itself.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
