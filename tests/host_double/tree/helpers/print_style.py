"""The console. The double keeps the lines instead of printing them."""

import sys

printed: list[str] = []


class PrintStyle:
    last_endline = True
    log_file_path = None

    def __init__(
        self,
        bold=False,
        italic=False,
        underline=False,
        font_color="default",
        background_color="default",
        padding=False,
        log_only=False,
    ):
        self.log_only = log_only

    def get(self, *args, sep=" ", **kwargs):
        text = sep.join(f"{part}" for part in args)
        return text, text, text

    def print(self, *args, sep=" ", end="\n", flush=True):
        printed.append(self.get(*args, sep=sep)[0] + end)

    def stream(self, *args, sep=" ", flush=True):
        printed.append(self.get(*args, sep=sep)[0])

    def is_last_line_empty(self):
        lines = sys.stdin.readlines()
        return bool(lines) and lines[-1].strip() == ""

    @staticmethod
    def standard(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print(*args, sep=sep, end=end)

    @staticmethod
    def hint(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Hint:", *args, sep=sep, end=end, flush=flush)

    @staticmethod
    def info(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Info:", *args, sep=sep, end=end, flush=flush)

    @staticmethod
    def success(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Success:", *args, sep=sep, end=end, flush=flush)

    @staticmethod
    def warning(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Warning:", *args, sep=sep, end=end, flush=flush)

    @staticmethod
    def debug(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Debug:", *args, sep=sep, end=end, flush=flush)

    @staticmethod
    def error(*args, sep=" ", end="\n", flush=True):
        PrintStyle().print("Error:", *args, sep=sep, end=end, flush=flush)
