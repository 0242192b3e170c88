"""The messages of protos/, compiled by protoc."""
import importlib
import pathlib
import sys
import tempfile

from grpc_tools import protoc

PROTOS = pathlib.Path(__file__).with_name('protos')
GOOGLE = pathlib.Path(protoc.__file__).with_name('_proto')
generated = tempfile.TemporaryDirectory()


def compiled(*names):
    """Compiles files of protos/, and gives the module of the last one."""
    return run(PROTOS, *names)


def compiled_text(name, text):
    """Compiles a file that is not there yet."""
    folder = pathlib.Path(generated.name)
    (folder / f'{name}.proto').write_text(text)
    return run(folder, name)


def run(folder, *names):
    files = [str(folder / f'{name}.proto') for name in names]
    if protoc.main(['protoc', f'-I{folder}', f'-I{GOOGLE}', f'--python_out={generated.name}', *files]) != 0:
        sys.exit('protoc failed')
    if generated.name not in sys.path:
        sys.path.insert(0, generated.name)
    return importlib.import_module(f'{names[-1]}_pb2')
