import { main } from "./serve";
import * as strategy from "./strategy";

main(strategy);
