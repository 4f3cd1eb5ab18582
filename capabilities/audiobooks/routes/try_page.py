"""The Audiobooks page of the dashboard: a manuscript's plan, from which a book is begun."""

from api.try_pages import Call, Trial, TryPage

TRY = TryPage(
    slug="audiobooks",
    title="Audiobooks",
    lead="Drop a manuscript, look at its chapters and the price, choose a voice, and hear the book while it is made.",
    trials=(Trial("audiobook_plan", "A plan", "A plan is free", Call("plan_audiobook", "manuscript")),),
    besides=("audiobook",),
    engines=("synthesis",),
    main=("manuscript", "url"),
    hidden=("name", "upload", "language"),
    labels={"url": "Or the address of an article", "read": "Read also"},
    abouts={
        "url": "",
        "read": "footnotes, tables, code, page_numbers, pictures (their descriptions). Others are left out.",
    },
    accepts={"manuscript": ".epub,.docx,.html,.htm,.xhtml,.md,.markdown,.txt"},
    shows_by="plan",
    template="audiobooks.html",
    script="try_audiobook.js",
    submit="Show the plan",
    icon="book-open",
    order=2,
)
