import { runProcess } from './cli/run.ts'

void runProcess()
