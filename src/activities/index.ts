import { batchActivities } from './batch-activities.ts';
import type { Activities } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import { withHeartbeat } from './heartbeat.ts';
import { unlessHeld } from './hold.ts';
import { modelActivities } from './model-activities.ts';
import { poolActivities } from './pool-activities.ts';
import { sandboxActivities } from './sandbox-activities.ts';
import { storeActivities } from './store-activities.ts';

/** Every activity, by the name that Temporal UI shows, bound to its adapters and heartbeating. */
export function createActivities(deps: Dependencies): Activities {
  const store = storeActivities(deps);
  const model = modelActivities(deps);
  const batch = batchActivities(deps);
  const sandbox = sandboxActivities(deps);
  const pool = poolActivities(deps);
  return {
    loadProblem: withHeartbeat(store.loadProblem),
    loadSweep: withHeartbeat(store.loadSweep),
    listUnfinished: withHeartbeat(store.listUnfinished),
    isRunning: withHeartbeat(store.isRunning),
    recordOutcome: withHeartbeat(store.recordOutcome),
    recordTermination: withHeartbeat(store.recordTermination),
    endedByHand: withHeartbeat(store.endedByHand),
    rankPool: withHeartbeat(pool.rankPool),
    countOutcomes: withHeartbeat(store.countOutcomes),
    markSweep: withHeartbeat(store.markSweep),
    markTerminated: withHeartbeat(store.markTerminated),
    generateProgram: withHeartbeat(model.generateProgram),
    drawPrograms: withHeartbeat(batch.drawPrograms),
    drawTests: withHeartbeat(batch.drawTests),
    imagineExecution: withHeartbeat(model.imagineExecution),
    criticiseProgram: withHeartbeat(model.criticiseProgram),
    designTests: withHeartbeat(model.designTests),
    judgeTest: withHeartbeat(model.judgeTest),
    debugProgram: withHeartbeat(model.debugProgram),
    clarifyProblem: withHeartbeat(model.clarifyProblem),
    runPrograms: withHeartbeat(unlessHeld(deps, sandbox.runPrograms)),
    runPool: withHeartbeat(unlessHeld(deps, pool.runPool)),
    comparePredictions: withHeartbeat(unlessHeld(deps, sandbox.comparePredictions)),
    scoreSubmission: withHeartbeat(unlessHeld(deps, sandbox.scoreSubmission)),
  };
}
