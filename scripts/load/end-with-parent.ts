// Loaded before the service (`--import`), whose standard input is a pipe from the process that started it: when that
// process is gone, however it ended, this process ends too. In a session of its own no terminal ends it.
process.stdin.once('close', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.resume();
process.stdin.unref();
