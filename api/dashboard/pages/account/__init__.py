"""Account: who is signed in and how, and their second factors."""

from api.dashboard.pages.account import account, factors

PAGE = account.PAGE
RESOURCES = {**account.RESOURCES, **factors.RESOURCES}
