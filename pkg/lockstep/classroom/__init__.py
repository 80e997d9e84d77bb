"""A class in a room: the board that shows how far it is, and a concept inventory before and after (docs/board.md).

``learners``        what is known of a class: how far everybody is, where they are stuck
``journal``         a file to which each report is appended; a restart reads it again
``reception``       what is let in: known exercises, in numbers that a class needs
``web``             the server: the page, its data, reports
``on_the_hub``      the same as a service of JupyterHub, which says who reports
``page``            the one page, with the course's colours
``inventory``       the twelve questions of each form, from questions.toml
``question_page``   the questions as a page of the board
``asking``          the questions in a terminal
``answer_table``    the answers of a class as CSV
``gain``            what a class has learned, question by question, and how far that can be trusted
"""
