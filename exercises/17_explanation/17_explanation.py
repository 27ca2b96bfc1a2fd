# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 17: explanation
#
# They belong to the chapter *Explanation*. You need Python with torch, here or on Colab, and about 45 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 find the bug | 10 | 15 | ★☆☆ | `sharp_weights`, mended |
# | Q2 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q3 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Write your answers where it says so and keep the names of the functions. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Find the bug
#
# *10 points, 15 minutes, ★☆☆.* The score of a key for a query is three times their dot product. The weights are the softmax of the scores **over the keys**, also where the scores are in the hundreds. Somebody wrote it, and **one line is wrong**. Find it, mend it, and remove the line that raises.
#
# *Deliverable:* `sharp_weights`, with one line changed.


# %%
def sharp_weights(queries, keys):
    """Weights (q, k) of keys (k, d) for queries (q, d)."""
    ### BEGIN SOLUTION
    scores = 3 * queries @ keys.T
    return scores.softmax(dim=1)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| scores = 3 * queries @ keys.T
    #| return scores.softmax(dim=0)
    ### END RELEASED


# %%
### CHECK q1

# %% [markdown]
# ## Q2. In words
#
# *4 points, 10 minutes, ★★☆.* What do the weights become as the factor of the scores grows, and what if two keys have the same score?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q2:**
#
# ### BEGIN SOLUTION
# The best key gets all the weight, since the ratio of two weights is the exponential of the factor times the difference of their scores. Two best keys with the same score keep the same weight, a half each. So the limit is a choice only where one key is best.
#
# *Rubric, 4 points:* the best key gets all (1); the reason, by ratios (1); equal keys share (2, half for a share without a number).
# ### END SOLUTION

# %% [markdown]
# ## Q3. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about the factor that a run can answer, and answer it with your function from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
for seed in range(3):
    torch.manual_seed(seed)
    keys = torch.randn(20, 4)
    print(f"{sharp_weights(keys, keys).amax(dim=1).mean():.2f}")
### END SOLUTION

# %% [markdown]
# **Answer Q3:**
#
# ### BEGIN SOLUTION
# Is a key's largest weight its own? I expected so for most. The table says how large it is, with three seeds; it says nothing of keys that are alike.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
