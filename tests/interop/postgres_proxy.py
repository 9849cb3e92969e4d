"""A proxy in front of PostgreSQL that cuts one connection at its first COMMIT."""
import socket
import threading


class CuttingProxy:
    def __init__(self, port, when):
        self.to, self.when, self.cuts = port, when, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to))
            armed = threading.Event()
            threading.Thread(target=self.pump, args=(client, server, armed, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, armed, False), daemon=True).start()

    def pump(self, source, target, armed, to_server):
        try:
            while data := source.recv(65536):
                if to_server and b"COMMIT" in data and self.cuts == 0:
                    self.cuts += 1
                    if self.when == "before":
                        break
                    armed.set()
                elif not to_server and armed.is_set():
                    break  # the answer to COMMIT is lost
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
