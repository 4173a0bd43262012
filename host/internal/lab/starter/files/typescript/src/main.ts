import { main } from "./protocol";
import * as strategy from "./strategy";

main(strategy);
