import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
seen = set()  # keep the ids in your database

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        message, sent = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.digest(key, f"{message}.{sent}.".encode() + body, hashlib.sha256)
        given, right = self.headers["webhook-signature"].split(), "v1," + base64.b64encode(code).decode()
        good = abs(time.time() - int(sent)) < 300 and any(hmac.compare_digest(each, right) for each in given)
        if good and message not in seen:
            print(json.loads(body)["type"], json.loads(body)["data"]["href"], flush=True)
            seen.add(message)
        self.send_response(204 if good else 400)
        self.end_headers()

ThreadingHTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
