"""The handler of somebody else's kind."""

from pressroom_words import WordsCounted, WordsRequest

from workers.handler import Done, Handler, Outcome, Task


class CountWordsHandler(Handler[WordsRequest, WordsCounted]):
    """Counts the words of one text at a time."""

    def carry_out(self, task: Task[WordsRequest]) -> Outcome[WordsCounted]:
        return Done(WordsCounted(words=len(task.input.text.split())))
