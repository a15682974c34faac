import { runProcess } from './cli/run.ts'

// `runProcess` turns every error into an exit code. An error that escapes it is a bug, and Node prints it.
void runProcess()
