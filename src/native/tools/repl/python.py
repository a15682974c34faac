# Runs pieces of Python, one after another, in one namespace. Descriptor 3 brings {"nonce", "code"} as a line of JSON;
# what the code prints goes out as it is, among marks that begin with the nonce, which no code is shown: see marks.ts.
import sys

# A file of the project must not stand in for a module of the language.
sys.path[:] = [place for place in sys.path if place]
import ast, json, linecache, os, traceback, types

os.set_inheritable(3, False)
requests = os.fdopen(3, "rb")
sys.path.append(os.getcwd())
sys.argv = [""]
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(errors="backslashreplace")
main = types.ModuleType("__main__")
main.__builtins__ = __builtins__
sys.modules["__main__"] = main
process = os.getpid()


def mark(nonce, word):
    left = f"{nonce}{word};".encode()
    while left:
        left = left[os.write(1, left) :]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def fresh_line():
    flush()
    mark(nonce, "line")


def run(code, name):
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    body = ast.parse(code, name)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, name, "exec", dont_inherit=True), main.__dict__)
    if last:
        value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), main.__dict__)
        if value is not None:
            fresh_line()
            sys.displayhook(value)
    # As at the end of a program: what was begun is waited for.
    if "threading" in sys.modules:
        threading = sys.modules["threading"]
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()


def exit_code(code, name):
    try:
        run(code, name)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
    except BaseException as error:
        frames = error.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != name:
            frames = frames.tb_next
        fresh_line()
        traceback.print_exception(type(error), error, frames)
    return 1


for count, line in enumerate(requests, 1):
    request = json.loads(line)
    nonce = request["nonce"]
    mark(nonce, "begin")
    try:
        exit = exit_code(request["code"], f"<script {count}>")
    except BaseException as error:
        os.write(1, f"{type(error).__name__}, and it could not be printed\n".encode())
        exit = 1
    flush()
    # A child of a fork that came to its end here is not the interpreter.
    if os.getpid() != process:
        os._exit(exit)
    mark(nonce, exit)
os._exit(0)
