"""What README and docs quote, by name: figures within sentences, and whole tables."""

from __future__ import annotations

from collections.abc import Callable

from figures import Tables, digits, fixed, markdown, p_value

#: Marks what was measured elsewhere.
ELSEWHERE = "\\*"

# Figures within sentences.


def _one(name: str, column: str, form: Callable[[str], str] = digits, **where: str) -> Callable[[Tables], str]:
    return lambda given: form(given.cell(name, column, **where))


def _same(text: str) -> str:
    return text


def _web(column: str, form: Callable[[str], str] = digits) -> Callable[[Tables], str]:
    return _one("web30k", column, form, loss="squared_hinge", threads="1")


def _letor(metric: str, tool: str) -> Callable[[Tables], str]:
    return _one("letor", tool, _same, fold="1", metric=metric)


def _worst_fit(column: str) -> Callable[[Tables], str]:
    """The largest ratio over the shapes of a million rows."""
    return lambda given: fixed(str(max(float(row[column]) for row in given.rows("sgd_fit", rows="1000000"))), 1)


def _pays(choose: Callable[..., float], way: str) -> Callable[[Tables], str]:
    """The least or largest number of rows from which a GPU would pay."""
    return lambda given: f"{int(choose(float(row['rows']) for row in given.rows('gpu_pays', way=way))):,}"


FIGURES: dict[str, Callable[[Tables], str]] = {
    "gpu_pays_least": _pays(min, "pairs"),
    "gpu_pays_most": _pays(max, "pairs"),
    "gpu_sorting_least": _pays(min, "sorting"),
    "gpu_sorting_most": _pays(max, "sorting"),
    "web30k_seconds": _web("seconds"),
    "web30k_memory": _web("memory grown by MB", lambda text: fixed(text, 0)),
    "survival_ratio": _one("survival", "scikit-survival / ours", lambda text: fixed(text, 0), rows="20000"),
    "letor_map": _letor("map", "letor"),
    "letor_precision": _letor("precision@1", "letor"),
    "letor_mean_ndcg": _letor("mean_ndcg", "letor"),
    **{f"ndcg_{tool}": _letor("ndcg@10", tool) for tool in ("letor", "trec", "xgboost")},
    "stream_memory": _one("sgd_stream", "memory grown by MB", lambda text: fixed(text, 0)),
    "stream_seconds": _one("sgd_stream", "seconds"),
    "stream_reading": _one("sgd_stream", "reading alone s"),
    "sgd_path_alpha": _one("sgd_path", "alpha", _same, rule="exact", data="MQ2008"),
    "sgd_path_alpha_hp": _one("sgd_path", "alpha", _same, rule="exact", data="like hp2003"),
    "sgd_path_c": _one("sgd_path", "C", _same, rule="passive_aggressive", data="MQ2008", steps="100"),
    "sgd_path_c_hp": _one("sgd_path", "C", _same, rule="passive_aggressive", data="like hp2003", steps="100"),
    "fit_ratio": _worst_fit("fit / least"),
    "fit_auto_ratio": _worst_fit("auto / least"),
    "crossing": _one("logistic_crossing", "direct / sorted", lambda text: fixed(text, 0), rows="20640"),
    "randnet": _one("rankncg", "exact newton WMW", lambda text: text.split()[0], data="RandNet 1000"),
    "randpoly": _one("rankncg", "exact newton WMW", lambda text: text.split()[0], data="RandPoly 1000"),
    "polynomial": _one("rankncg_nonlinear", "WMW", _same, features="PolynomialFeatures(2)"),
}


# Tables.


def _evaluation(given: Tables) -> str:
    shapes = {
        "one query, all utilities different (5·10¹¹ pairs)": "1 query, all levels distinct",
        "one query, 5 grades": "1 query, 5 levels",
        "8,000 queries of 125 rows, 5 grades": "queries of 125 rows, 5 levels",
    }
    rows = []
    for text, shape in shapes.items():
        costs = (digits(given.cell("evaluation", column, shape=shape, rows="1000000")) for column in ("ms", "argsorts"))
        rows.append([text, *costs])
    return markdown(["shape, 1,000,000 rows", "milliseconds", "in argsorts"], rows)


def _opponent(given: Tables, row: dict[str, str], title: str, figure: str) -> str:
    """Seconds of an opponent in the same run; where it was absent, those measured elsewhere, marked."""
    if seconds := row.get(f"{title} s"):
        return f"{digits(seconds)} s"
    found = given.elsewhere(title, row["data"], figure)
    return f"{found} s {ELSEWHERE}" if found else ""


def _hinge(given: Tables) -> str:
    rows = []
    for title, size, data, alpha, shown in (
        ("California housing", "20,640 x 8 | 2.1·10⁸", "cadata", "0.01", "10⁻²"),
        ("Webis ClueWeb09", "26,646 x 42 | 1.6·10⁶", "webis", "0.0001", "10⁻⁴"),
        ("IMDb reviews", "25,000 x 44,798, sparse | 2.7·10⁸", "imdb", "0.0001", "10⁻⁴"),
    ):
        (row,) = given.rows("hinge", data=data, alpha=alpha, tol="0.001")
        svmrank = _opponent(given, row, "SVMrank", f"hinge, alpha {alpha}, seconds")
        rows.append([title, size, shown, f"{digits(row['auto s'])} s", f"{digits(row['algorithm 1 s'])} s", svmrank])
    seconds = digits(given.cell("documents", "seconds", rows="512000", threads="1"))
    rows.append(["documents by similarity", "512,000 x 50,000, sparse | 1.3·10¹¹", "2·10⁻⁵", f"{seconds} s", "", ""])
    head = ["data", "rows x features", "pairs", "alpha", "linrank", "Algorithm 1 of the paper", "SVMrank"]
    return markdown(head, rows)


def _squared_hinge(given: Tables) -> str:
    rows = []
    for title, data in (("California housing", "cadata"), ("Webis ClueWeb09", "webis"), ("IMDb reviews", "imdb")):
        (row,) = given.rows("squared_hinge", data=data, alpha="0.0001")
        theirs = _opponent(given, row, "liblinear-ranksvm", "squared hinge, alpha 0.0001, seconds")
        rows.append([title, f"{digits(row['auto s'])} s", f"{digits(row['tron s'])} s", theirs])
    return markdown(["data", "linrank", "TRON, our own", "liblinear-ranksvm"], rows)


def _metrics(given: Tables) -> str:
    shapes = ("1 query", "100,000 queries of 100 rows")
    rows = []
    for name in dict.fromkeys(row["metric"] for row in given.rows("metrics")):
        costs = (given.cell("metrics", "argsorts", metric=name, shape=shape) for shape in shapes)
        rows.append([f"`{name}`", *(fixed(cost, 1) for cost in costs)])
    return markdown(["metric, five grades", "one query", shapes[1]], rows)


def _auc_classifier(given: Tables) -> str:
    head = ["data", "model", "seconds", "test AUC", "mean probability (positive rows)", "calibration error"]
    rows = []
    for row in given.rows("auc_classifier"):
        share = f"{row['mean probability']} ({row['positive']})"
        rows.append([row["data"], row["model"], digits(row["s"]), row["test AUC"], share, row["calibration error"]])
    return markdown(head, rows)


def _mq2008(name: str) -> Callable[[Tables], str]:
    def table(given: Tables) -> str:
        rows = []
        for row in given.rows(name):
            values = row["MAP"], p_value(row["p (MAP)"]), row["accuracy"], p_value(row["p (accuracy)"])
            rows.append([row["ranker"], *values, fixed(row["seconds a fit"], 2)])
        return markdown(["ranker", "MAP", "p", "accuracy", "p", "seconds a fit"], rows)

    return table


def _sgd_speed(given: Tables) -> str:
    shown = {
        "pegasos us": "pegasos",
        "sgd us": "sgd",
        "passive_aggressive us": "passive_aggressive",
        "romma us": "romma",
        "SGDClassifier us": "SGDClassifier",
        "with making differences us": "with differences made",
        "whole fit us": "whole fit",
    }
    rows = []
    for row in given.rows("sgd_speed"):
        sofia = fixed(row.get("sofia-ml us", ""), 2)
        if not sofia:
            sofia = f"{given.elsewhere('sofia-ml', row['data'].split(',')[0], 'microseconds a step')} {ELSEWHERE}"
        rows.append([row["data"], *(fixed(row[column], 2) for column in shown), sofia])
    return markdown(["data", *shown.values(), "sofia-ml"], rows)


def _disk(given: Tables) -> str:
    shown = {
        "X GB": "X, GB",
        "X / memory allowed": "X / memory allowed",
        "s to the cache": "to the cache, s",
        "pass s": "a pass, s",
        "pass / cat": "pass / cat",
        "fit s": "fit, s",
        "fit in passes": "in passes",
        "in memory s": "in memory, s",
        "bytes a row": "bytes a row",
    }
    rows = []
    for row in given.rows("disk"):
        shape = f"{int(row['rows']):,} x {int(row['features']):,}"
        rows.append([row["data"], shape, *(digits(row[column]) for column in shown), row["same bits"]])
    return markdown(["data", "rows x features", *shown.values(), "same bits"], rows)


def _disk_order(given: Tables) -> str:
    rows = []
    for row in given.rows("disk_order"):
        cells = [row["rows"], f"{int(row['m']):,} x {int(row['features']):,}", digits(row["X GB"])]
        for temper in ("cold", "warm"):
            cells += [digits(row[f"{what} {temper} s"]) for what in ("stored", "copy", "moved")]
        ratios = (fixed(row[f"moved / stored {temper}"], 1) for temper in ("cold", "warm"))
        rows.append([*cells, *ratios, row["within the gaps"]])
    times = [f"{what}, {temper}" for temper in ("cold", "warm") for what in ("stored: fit, s", "moved: copy", "fit")]
    ratios = ("moved / stored, cold", "warm")
    return markdown(["data", "rows x features", "X, GB", *times, *ratios, "within the gaps"], rows)


def _disk_stream(given: Tables) -> str:
    rows = []
    for row in given.rows("disk_stream"):
        shape = f"{int(row['rows']):,} x {int(row['features']):,}"
        cache = digits(row["s to the cache"]) if float(row["s to the cache"]) else ""
        quality = (fixed(row[name], 4) for name in ("pairwise accuracy", "ndcg@10"))
        rows.append([shape, row["way"], digits(row["seconds"]), cache, *quality])
    head = ["rows x features", "way", "seconds in all", "of these, to the cache", "pairwise accuracy", "NDCG@10"]
    return markdown(head, rows)


def _disk_memory(given: Tables) -> str:
    losses = ("squared_hinge", "hinge", "logistic")
    rows = [[row["rows are"], *(fixed(row[loss], 0) for loss in losses)] for row in given.rows("disk_memory")]
    return markdown(["rows are", *(f"`{loss}`" for loss in losses)], rows)


def _sgd_rows(given: Tables) -> str:
    head = ["rows", "by trial", "by index", "ready after, s", "bytes a row", "balanced"]
    columns = ("trials, us a step", "index, us a step", "index, ready s", "index, bytes a row", "balanced, us a step")
    rows = [[f"{int(row['rows']):,}", *(fixed(row[c], 2) for c in columns)] for row in given.rows("sgd_rows")]
    return markdown(head, rows)


def _sgd_fit(given: Tables) -> str:
    head = [
        "rows",
        "labels",
        "a look at X",
        "steps",
        "fit",
        "fit, all by default",
        "fit by rejection",
        "with `objective_`",
    ]
    columns = ("look s", "steps s", "fit s", "auto s", "rejection s", "objective s")
    rows = []
    for row in given.rows("sgd_fit"):
        rows.append([f"{int(row['rows']):,}", row["labels"], *(digits(row[c]) if row[c] else "" for c in columns)])
    return markdown(head, rows)


def _sgd_passes(given: Tables) -> str:
    shown = ("data", "rows", "order", "passes", "exact", "stream", "less", "pairs lost")
    rows = [
        [*(row[c] for c in shown), digits(row["exact s"]), digits(row["stream s"])] for row in given.rows("sgd_passes")
    ]
    return markdown([*shown, "exact, s", "stream, s"], rows)


def _sgd_steps(given: Tables) -> str:
    rows = []
    for row in given.rows("sgd_steps_summary"):
        worst = f"{row['most']} ({row['where']})"
        times = digits(row["exact / stochastic s"])
        rows.append([f"{int(row['steps']):,}", row["median less"], worst, times, fixed(row["objective, median"], 3)])
    head = [
        "steps",
        "accuracy less, median",
        "at most",
        "CPU seconds of exact training / ours",
        "objective / optimum, median",
    ]
    return markdown(head, rows)


def _sgd_overtaken(given: Tables) -> str:
    rows = []
    for row in given.rows("sgd_overtaken"):
        if row["rule"] not in ("sgd_svm", "sgd"):
            ahead = "" if row["rule"] == "pegasos" else f"{int(row['ahead up to']):,}"
            least = f"{digits(row['least'])} at {int(row['at']):,}"
            rows.append([row["data"], row["rule"], ahead, least, digits(row["end"]), digits(row["exact"])])
    head = ["data", "rule", "below Pegasos up to step", "least objective, at step", "after 10⁷ steps", "optimum"]
    return markdown(head, rows)


def _sgd_rcv(given: Tables) -> str:
    rows = [
        [row["learner"], row["ROC area"], fixed(row["CPU seconds"], 2), row["chosen"]] for row in given.rows("sgd_rcv")
    ]
    return markdown(["learner", "ROC area", "CPU seconds", "chosen"], rows)


def _logistic_growth(given: Tables) -> str:
    columns = [f"{way}, value and gradient, argsorts" for way in ("exponentials", "Fourier 1e-06")]
    rows = [
        [row["levels"].replace("distinct", "all different"), *(fixed(row[column], 1) for column in columns)]
        for row in given.rows("logistic_growth", rows="1000000")
    ]
    return markdown(["levels", "exponentials, to 3·10⁻¹²", "Fourier series, to 10⁻⁶"], rows)


def _rankncg(given: Tables) -> str:
    head = ["data", "rows", "pairs (the paper's)", "WMW", "the paper's, direct / fast", "seconds, exact by Newton"]
    rows = []
    for row in given.rows("rankncg"):
        paper = " / ".join(row[f"paper's {method} WMW"] for method in ("direct", "fast"))
        pairs = f"{row['pairs']} ({given.elsewhere('RankNCG (paper)', row['data'], 'pairs')})"
        seconds = (fixed(row[f"{method} s"], 3) or "not converged" for method in ("exact newton", "fast"))
        theirs = given.elsewhere("RankNCG (paper)", row["data"], "fast seconds")
        rows.append([row["data"], row["rows"], pairs, row["exact newton WMW"], paper, *seconds, theirs])
    return markdown([*head, "seconds, RankNCG fast", "the paper's, fast"], rows)


def _papers(given: Tables) -> str:
    shown = ("data", "system", "seconds", "iterations", "status", "objective", "training error", "test error")
    rows = ([digits(row[c]) if c == "seconds" else row[c] for c in shown] for row in given.rows("papers"))
    return markdown(shown, rows)


def _rankncg_eps(given: Tables) -> str:
    rows = ([row["eps"], fixed(row["seconds"], 2), row["iterations"], row["test WMW"], row["its deviation"]]
            for row in given.rows("rankncg_eps"))  # fmt: skip
    return markdown(["eps", "seconds", "iterations", "test WMW", "its deviation"], rows)


def _kernel_features(given: Tables) -> str:
    rows = (
        [f"{int(row['rows']):,}", digits(row["features s"]), digits(row["fit s"]), row["linear"], row["kernel"]]
        for row in given.rows("kernel_features")
    )
    return markdown(["rows", "seconds, features", "seconds, fit", "accuracy, linear", "accuracy, kernel"], rows)


def _defaults(given: Tables) -> str:
    """The reporting half, a row a set: default and best for each loss, and the stochastic default."""
    losses = ("squared_hinge", "hinge", "logistic")
    rows = []
    for name in dict.fromkeys(row["data"] for row in given.rows("defaults", list="reporting")):
        found = {loss: given.rows("defaults", data=name, loss=loss)[0] for loss in losses}
        pairs = [f"{found[loss]['default'][1:]} / {found[loss]['best of the grid'][1:]}" for loss in losses]
        row = found["squared_hinge"]
        rows.append([name, *pairs, found["hinge"]["SGDRanker"][1:], row["standard error"][1:], row["by luck"]])
    head = ["set", *(f"{loss.replace('_', ' ')}: default / best" for loss in losses)]
    return markdown([*head, "`SGDRanker()`", "error (squared hinge)", "by luck"], rows)


def _defaults_summary(given: Tables) -> str:
    shown = ("list", "loss", "sets", "median lost", "most lost", "beyond .01 and 2 errors", "worst", "median by luck")
    return markdown(shown, ([row[column] for column in shown] for row in given.rows("defaults_summary")))


def _defaults_weighting(given: Tables) -> str:
    shown = ("data", "list", "pairs, accuracy", "queries, accuracy", "pairs, ndcg@10", "queries, ndcg@10")
    return markdown(shown, ([row[column] for column in shown] for row in given.rows("defaults_weighting")))


def _by_rule(name: str) -> Callable[[Tables], str]:
    """Ratios without each rule."""

    def shown(given: Tables) -> str:
        found = given.rows(name)
        ratios = ([row["without"], *(fixed(row[one], 2) for one in row if one != "without")] for row in found)
        return markdown(found[0], ratios)

    return shown


def _ablation_removed(given: Tables) -> str:
    found = given.rows("ablation_removed")
    shown = ([row["without"], fixed(row["all"], 2), f"{row['worst class']} {fixed(row['there'], 2)}"] for row in found)
    return markdown(["without", "all", "worst class"], shown)


def _auto_summary(given: Tables) -> str:
    head = ["shapes", "fits", "auto / best, geometric mean", "share within 1.3", "worst"]
    found = given.rows("auto_summary")
    shown = ([row["list"], row["fits"], *(fixed(row[k], 2) for k in tuple(row)[2:])] for row in found)
    return markdown(head, shown)


def _auto_above(given: Tables) -> str:
    """Fits in which another choice is much faster."""
    above = [row for row in given.rows("auto") if float(row["auto / best"]) > 1.3]
    names = ("list", "shape", "loss", "alpha", "best")
    head = ["shapes", "shape", "loss", "alpha", "best choice", "its seconds", "auto / best"]
    shown = ([*(row[k] for k in names), digits(row[f"{row['best']} s"]), fixed(row["auto / best"], 2)] for row in above)
    return markdown(head, shown)


def _hessian_model(given: Tables) -> str:
    found = given.rows("hessian_model")
    shown = ([row["half"], row["shapes"], *(fixed(row[k], 2) for k in tuple(row)[2:])] for row in found)
    return markdown(tuple(found[0]), shown)


def _hessian_off(given: Tables) -> str:
    """Where the model of a Hessian's cost is off by most."""
    found = [row for row in given.rows("hessian") if row["modelled / cost"]]
    off = lambda row: max(float(row["modelled / cost"]), 1.0 / float(row["modelled / cost"]))
    names = ("loss", "rows a ranking", "levels", "rows", "features", "X", "half")
    worst = sorted(found, key=off, reverse=True)[:8]
    shown = ([*(row[k] for k in names), digits(row["cost"]), digits(row["modelled"])] for row in worst)
    return markdown([*names, "cost", "modelled"], shown)


def _inference(given: Tables) -> str:
    names = ("data", "loss", "rows", "features", "units")
    head = [*names, "the sums over units, in Hessians", "all of it, in Hessians"]
    shown = ([*(row[k] for k in names), *(digits(row[f"{k} / Hessian"]) for k in ("outer", "inference"))]
             for row in given.rows("inference"))  # fmt: skip
    return markdown(head, shown)


def _coverage(given: Tables) -> str:
    names = ("design", "loss", "alpha", "units")
    shares = ("held", "least", "without penalty")
    head = [*names, "held", "of the least weight", "without the penalty's part", "error / spread"]
    percent = lambda text: fixed(str(100 * float(text)), 1)
    shown = ([*(row[k] for k in names), *(percent(row[k]) for k in shares), fixed(row["error / spread"], 2)]
             for row in given.rows("coverage"))  # fmt: skip
    return markdown(head, shown)


def _coverage_pairs(given: Tables) -> str:
    head = ["loss", "rows", "variance by rows / by pairs", "held by pairs", "held by rows"]
    percent = lambda text: fixed(str(100 * float(text)), 1)
    shown = ([row["loss"], row["rows"], fixed(row[head[2]], 1), *(percent(row[k]) for k in head[3:])]
             for row in given.rows("coverage_pairs"))  # fmt: skip
    return markdown(head, shown)


def _penalties_paths(given: Tables) -> str:
    names = {"data": _same, "features": _same, "loss": _same, "ridge fit s": digits, "path s": digits}
    names |= {"path in ridge fits": digits, "cold / warm": digits, "weights at the end": _same}
    return _listed(given.rows("penalties_paths"), names)


def _sparse(given: Tables) -> str:
    """What was raced, and scaled columns; of seeds to report on, both, of those to choose by, none."""
    names = {"problem": _same, "alpha": _same, "scaled": _same, "to": _same, "passes": _same, "tron passes": _same}
    names |= {"seconds": digits, "times liblinear-ranksvm": digits}
    rows = [row for row in given.rows("sparse") if row["list"] == "reporting" or not row["seed"]]
    rows = [row for row in rows if row["times liblinear-ranksvm"] or row["scaled"] == "True"]
    return _listed([row | {"problem": f"{row['problem']} {row['seed']}".strip()} for row in rows], names)


def _penalties_growth(given: Tables) -> str:
    names = {"features": _same, "ridge fit s": digits, "path s": digits, "path in ridge fits": digits}
    return _listed(given.rows("penalties_growth"), names)


def _penalties_saga(given: Tables) -> str:
    names = {"data": _same, "pairs": _same, "features": _same, "weights": _same, "linrank s": digits, "saga s": digits}
    return _listed(
        given.rows("penalties_saga"), {**names, "saga / linrank": digits, "saga is at equal objective": _same}
    )


def _listed(rows: list[dict[str, str]], names: dict[str, Callable[[str], str]]) -> str:
    """Some columns of a table, each in its form."""
    return markdown(names, ([form(row[name]) for name, form in names.items()] for row in rows))


def _penalties_quality(given: Tables) -> str:
    """Means over the parts of each data set."""
    rows, shown = given.rows("penalties_quality"), []
    for data, model in dict.fromkeys((row["data"], row["model"]) for row in rows):
        here = [row for row in rows if (row["data"], row["model"]) == (data, model)]
        mean = lambda name, here=here: str(sum(float(row[name]) for row in here) / len(here))
        ndcg = fixed(mean("NDCG@10"), 4) if here[0]["NDCG@10"] else ""
        features = f"{float(mean('features')):.0f} of {here[0]['of']}"
        shown.append([data, model, features, ndcg, fixed(mean("pairwise accuracy"), 4)])
    return markdown(["data", "model", "features", "NDCG@10", "pairwise accuracy"], shown)


def _gpu_cpu(given: Tables) -> str:
    """One core, measured, beside the paper's fits."""
    head = ["shape", "rows", "features", "queries", "hinge, ms", "squared hinge, ms", "logistic, ms"]
    head += ["TRON to 10⁻⁵, s", "`LinearRanker()`, s", "P-SWXRankSVM, Tesla C2050, 2014, s"]
    rows = []
    for row in given.rows("gpu_cpu"):
        shape = [row["shape"], *(f"{int(row[name]):,}" for name in ("rows", "features", "queries"))]
        times = [digits(row[f"{name} ms"], 3) for name in ("hinge", "squared_hinge", "logistic")]
        rows.append([*shape, *times, digits(row["TRON s"]), digits(row["default s"]), row["P-SWXRankSVM, 2014 s"]])
    return markdown(head, rows)


def _gpu_estimates(given: Tables) -> str:
    """What is counted, and what it would take."""
    head = ["shape", "loss", "way", "launches by sorting, counted", "bytes a row by sorting, counted"]
    head += ["est. ms, A100: X", "sorting", "pairs", "in all", "est. ms, H100: in all"]
    shown = ("launches", "bytes a row", "X, A100 ms", "sorting, A100 ms", "pairs, A100 ms", "A100 ms", "H100 ms")
    found = given.rows("gpu_estimates")
    return markdown(
        head, ([row["shape"], row["loss"], row["way"], *(digits(row[name], 2) for name in shown)] for row in found)
    )


def _gpu_pays(given: Tables) -> str:
    """From which size on."""
    head = ["queries as in", "loss", "way", "one core, ns a row, measured", "A100, ns a row, est."]
    head += ["launches, ms, est.", "pays from rows, est.", "core / A100 at the shape's size, est."]
    rows = []
    for row in given.rows("gpu_pays"):
        times = [digits(str(1e3 * float(row[name])), 2) for name in ("one core us a row", "A100 us a row")]
        size = f"{int(float(row['rows'])):,}"
        rows.append([row["shape"], row["loss"], row["way"], *times, digits(row["launches ms"]), size])
        rows[-1].append(digits(row["core / A100, est."]))
    return markdown(head, rows)


def _plain(name: str) -> Callable[[Tables], str]:
    """A whole table as it was measured, its numbers to two digits."""

    def number(text: str) -> str:
        try:
            return f"{int(text):,}" if text.lstrip("-").isdigit() else digits(text)
        except ValueError:
            return text

    def made(given: Tables) -> str:
        rows = given.rows(name)
        return markdown(list(rows[0]), [[number(text) for text in row.values()] for row in rows])

    return made


CLUSTER = ("cluster_bytes", "cluster_trip", "cluster_fit", "cluster_memory", "cluster_estimate")

TABLES: dict[str, Callable[[Tables], str]] = {
    **{name: _plain(name) for name in CLUSTER},
    "disk": _disk,
    "disk_memory": _disk_memory,
    "disk_order": _disk_order,
    "disk_stream": _disk_stream,
    "inference": _inference,
    "coverage": _coverage,
    "coverage_pairs": _coverage_pairs,
    "auto_above": _auto_above,
    "penalties_paths": _penalties_paths,
    "penalties_growth": _penalties_growth,
    "sparse": _sparse,
    "penalties_saga": _penalties_saga,
    "penalties_quality": _penalties_quality,
    "gpu_cpu": _gpu_cpu,
    "gpu_estimates": _gpu_estimates,
    "gpu_pays": _gpu_pays,
    "auto_summary": _auto_summary,
    "hessian_model": _hessian_model,
    "hessian_off": _hessian_off,
    "ablation": _by_rule("ablation"),
    "ablation_sparse": _by_rule("ablation_sparse"),
    "ablation_removed": _ablation_removed,
    "defaults": _defaults,
    "defaults_summary": _defaults_summary,
    "defaults_weighting": _defaults_weighting,
    "evaluation": _evaluation,
    "hinge": _hinge,
    "squared_hinge": _squared_hinge,
    "metrics": _metrics,
    "auc_classifier": _auc_classifier,
    "sgd_letor": _mq2008("sgd_letor"),
    "sgd_hp2003": _mq2008("sgd_hp2003"),
    "sgd_fit": _sgd_fit,
    "sgd_passes": _sgd_passes,
    "sgd_steps": _sgd_steps,
    "sgd_overtaken": _sgd_overtaken,
    "sgd_claims": _mq2008("sgd_claims"),
    "sgd_speed": _sgd_speed,
    "sgd_rows": _sgd_rows,
    "sgd_rcv": _sgd_rcv,
    "logistic_growth": _logistic_growth,
    "rankncg": _rankncg,
    "rankncg_eps": _rankncg_eps,
    "papers": _papers,
    "kernel_features": _kernel_features,
}
