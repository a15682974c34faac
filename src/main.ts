import { runProcess } from './wire/run.ts'

void runProcess()
