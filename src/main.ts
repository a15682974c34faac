import { runProcess } from './cli/run.ts'

// Errors become an exit code inside; one that escapes is a mistake of ours, which Node prints.
void runProcess()
