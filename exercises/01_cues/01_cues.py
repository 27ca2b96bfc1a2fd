# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 1: attention cues
#
# They belong to the chapter *Attention cues*. You need Python with torch, here or on Colab, and about 105 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 weights from a distance | 7 | 15 | ★☆☆ | `cue_weights` |
# | Q2 what sticks out | 5 | 15 | ★★☆ | `saliency` |
# | Q3 find the bug | 9 | 20 | ★★☆ | `attend`, mended |
# | Q4 "not found" | 7 | 25 | ★★★ | `attend_or_miss` |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Write your answers where it says so and keep the names of the functions. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Weights from a distance
#
# *7 points, 15 minutes, ★☆☆.* The score of a key for a query is minus half their squared distance. Divide the scores by the temperature and normalise them with a softmax **over the keys**:
#
# $$ a_{ij} = -\tfrac12 \lVert \mathbf{q}_i - \mathbf{k}_j \rVert^2, \qquad \alpha_{ij} = \frac{\exp(a_{ij} / \tau)}{\sum_l \exp(a_{il} / \tau)}. $$
#
# *Deliverable:* `cue_weights`. It must also answer for a query that is far from every key.


# %%
def cue_weights(queries, keys, temperature=1.0):
    """Weights (q, k) of keys (k, d) for queries (q, d)."""
    ### BEGIN SOLUTION
    difference = queries.unsqueeze(1) - keys.unsqueeze(0)  # (q, k, d)
    scores = -difference.square().sum(dim=2) / 2
    return (scores / temperature).softmax(dim=1)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. What sticks out
#
# *5 points, 15 minutes, ★★☆.* A cue without a query: a patch sticks out if it is unlike **all the others**. Its score is the distance (not squared) between its key and the mean of the other keys, without itself. The weights are the softmax of the scores.
#
# *Deliverable:* `saliency`, for two keys or more.


# %%
def saliency(keys):
    """Weights (n,) of keys (n, d): how much each sticks out."""
    ### BEGIN SOLUTION
    n = len(keys)
    others = (keys.sum(dim=0) - keys) / (n - 1)  # (n, d): for each, the mean of the rest
    return (keys - others).norm(dim=1).softmax(dim=0)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Find the bug
#
# *9 points, 20 minutes, ★★☆.* `attend` is attention with the scores of Q1 at temperature 1. `mask` (q, k) is True where a query may attend to a key. Masked keys get a weight of exactly 0, however far the others are, and a query that may attend to nothing gets zero weights and a zero output. Somebody wrote it, and **one line is wrong**. Shapes don't show it. Find it, mend it, and remove the line that raises.
#
# *Deliverable:* `attend`, with one line changed.


# %%
def attend(queries, keys, values, mask=None):
    """Output (q, e) and weights (q, k) of values (k, e)."""
    ### BEGIN SOLUTION
    scores = -(torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist") ** 2) / 2
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    highest = scores.amax(dim=1, keepdim=True).clamp(min=-1e30)  # finite, also in an empty row
    e = (scores - highest).exp()
    weights = e / e.sum(dim=1, keepdim=True).clamp(min=1e-30)
    return weights @ values, weights
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| scores = -torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist") ** 2 / 2
    #| if mask is not None:
    #|     scores = scores.masked_fill(~mask, -torch.inf)
    #| highest = scores.amax(dim=1, keepdim=True).clamp(min=-1e30)  # finite, also in an empty row
    #| e = (scores - highest).exp()
    #| weights = e / e.sum(dim=0, keepdim=True).clamp(min=1e-30)
    #| return weights @ values, weights
    ### END RELEASED


# %%
### CHECK q3

# %% [markdown]
# ## Q4. "Not found"
#
# *7 points, 25 minutes, ★★★.* Attention always answers, even a query that fits nothing. Give it a way out: one more key, whose score is the number `threshold` for every query and whose value is zero. The other scores are those of Q1 at temperature 1, and a query far from every key must get an answer, too. Return the output and the weight of the extra key, `miss`. Gradients must flow from the output to the queries.
#
# *Deliverable:* `attend_or_miss`.


# %%
def attend_or_miss(queries, keys, values, threshold):
    """Output (q, e) and miss (q,) of values (k, e)."""
    ### BEGIN SOLUTION
    scores = -(queries.unsqueeze(1) - keys).square().sum(dim=2) / 2  # (q, k)
    extra = torch.full_like(scores[:, :1], threshold)
    weights = torch.cat((extra, scores), dim=1).softmax(dim=1)  # (q, 1 + k)
    return weights[:, 1:] @ values, weights[:, 0]
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* A search engine ranks pages by popularity alone on its front page, and by the words typed when somebody searches. Which of the two is a volitional cue? Name query, keys and values of the second. Why can a fully connected layer over all pages not replace it?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# The search is volitional: the words typed are the query, and they change what is found; popularity depends on the pages alone. The keys describe the pages (their words), the values are what is shown of them. A fully connected layer has one fixed weight per place: it has no input for what is wanted, and after the pages are put in another order it weighs the wrong ones.
#
# *Rubric, 4 points:* the search is the volitional one, with a reason (1); query, keys and values (1, half for two of them); no input for the query (1); weights belong to places, not to contents (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about temperature, saliency or "not found" that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: does the temperature change which key wins, or only by how much? From which threshold on are queries refused that have a key?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("temperature  right  largest weight")
for temperature in (0.1, 1.0, 10.0):
    right, largest = [], []
    for seed in range(3):
        torch.manual_seed(seed)
        keys = torch.randn(20, 4)
        weights = cue_weights(keys + torch.randn(20, 4) / 2, keys, temperature)
        right.append((weights.argmax(dim=1) == torch.arange(20)).float().mean())
        largest.append(weights.amax(dim=1).mean())
    print(f"{temperature:11}  {sum(right) / 3:.2f}  {sum(largest) / 3:.2f}")
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Does a colder cue find the right key more often? I expected so: its weights look more decided. A disturbed copy of each of 20 keys was the query, at three temperatures, with the same numbers at each and three seeds. The share of right keys is the same in each row of the table, and only the largest weight falls as the temperature rises, so I was wrong: dividing all scores by one number leaves their order alone. This says nothing of what is pooled; there a warm cue mixes in the values of wrong keys.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
